"""Many shops with a history of 90 days, and nights: files with one more day of their events and orders.

One shop in the world is the one of `data.py`, with its forms; it can be asked over the API.
"""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tests.bench.data import DAYS, FIRST, FORM_IDS, SHOP_ID, Data
from tests.bench.files import ndjson, orders_of, shop, shop_name, write_lines
from tests.bench.processes import Took, run, together

EVENTS_PER_ORDER: Final = 50
_DAY_MS: Final = 86_400_000
# No session begins in the last minutes of a day, so that it ends on it.
_LAST_START_MS: Final = _DAY_MS - 600_000
# Visitors from this number on have never been there before.
_NEW_VISITORS: Final = 100_000_000


class Night:
    """Files of one import, and how many events and shops are in them."""

    def __init__(self, folder: Path, shops: int, events: int) -> None:
        self.folder, self.shops, self.events = folder, shops, events
        folder.mkdir(parents=True, exist_ok=True)

    def import_into(self, url: str) -> Took:
        """Import events, then orders; returns what both took."""
        (events,) = self.folder.glob("events.*")
        taken = [
            run(url, "jobs", "import", kind, path)
            for kind, path in (("events", events), ("orders", self.folder / "orders.ndjson"))
            if path.exists()
        ]
        return together(taken)


def history(folder: Path, shops: int, events: int) -> Night:
    """The shops, the forms of one of them, and so many events with their orders, spread over 90 days."""
    night = Night(folder, shops, events)
    write_lines(folder / "shops.ndjson", (shop(_shop_id(number)) for number in range(shops)))
    forms = ({"form_id": form, "shop_id": SHOP_ID, "name": form} for form in FORM_IDS)
    write_lines(folder / "forms.ndjson", forms)
    data = Data(events)
    tables = (_of_shops(table, shops) for table in data.events())
    with pq.ParquetWriter(folder / "events.parquet", data.late(0, 0).schema) as writer:
        for table in tables:
            writer.write_table(table)
    lines = (_of_a_shop(order, shops) for order in orders_of(data, events // EVENTS_PER_ORDER))
    write_lines(folder / "orders.ndjson", lines)
    return night


def begin(url: str, folder: Path) -> None:
    """Import the shops and the forms of a history."""
    for kind in ("shops", "forms"):
        run(url, "jobs", "import", kind, folder / f"{kind}.ndjson")


def next_day(folder: Path, shops: int, events: int, number: int) -> Night:
    """A day after the history, the first one with number 0. Half of its visitors are new."""
    night = Night(folder, shops, events)
    data = Data(events + number)  # the size is the seed, too
    began = int(np.datetime64(FIRST + timedelta(days=DAYS + number), "ms").astype(np.int64))
    data.start = began + data.start % _LAST_START_MS
    data.visitor = data.visitor + data.random.integers(0, 2, len(data.visitor)) * _NEW_VISITORS
    prefix = f"night{number}"
    with (folder / "events.ndjson").open("wb") as file:
        for table in data.events():
            ndjson(_of_shops(table, shops, prefix).slice(0, events), file)
    lines = _orders_of_day(data, began, prefix, night)
    write_lines(folder / "orders.ndjson", lines)
    return night


def late(folder: Path, known: Night, events: int) -> Night:
    """Events that are late: of sessions of all days of a history."""
    night = Night(folder, known.shops, events)
    with (folder / "events.ndjson").open("wb") as file:
        ndjson(_of_shops(Data(known.events).late(events, 0), known.shops), file)
    return night


def _orders_of_day(data: Data, began: int, prefix: str, night: Night) -> Iterator[dict[str, Any]]:
    count = night.events // EVENTS_PER_ORDER
    times = began + data.random.integers(0, _DAY_MS, count)
    for order, at in zip(orders_of(data, count), times.tolist(), strict=True):
        created = {"created_at": str(np.datetime64(at, "ms")) + "Z"}
        order |= created | {"order_id": f"{prefix}-{order['order_id']}"}
        for refund in order.get("refunds", ()):
            refund |= created
        yield _of_a_shop(order, night.shops)


def _of_shops(table: pa.Table, shops: int, prefix: str = "") -> pa.Table:
    """The events as those of many shops, each visitor in one of them, with other events and sessions
    for each prefix."""
    visitor = pc.utf8_slice_codeunits(table["visitor_id"], 2).cast(pa.int64()).to_numpy()
    names = pa.array([_shop_id(number) for number in range(shops)])
    table = _set(table, "shop_id", names.take(pa.array(visitor % shops)))
    if prefix:
        for name in ("event_id", "form_session_id"):
            table = _set(table, name, pc.binary_join_element_wise(prefix, table[name], "-"))
    return table


def _set(table: pa.Table, name: str, column: Any) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), name, column)


def _of_a_shop(order: dict[str, Any], shops: int) -> dict[str, Any]:
    number = order.get("visitor_id", order["order_id"]).rpartition("-")[2]
    return order | {"shop_id": _shop_id(int(number) % shops)}


def _shop_id(number: int) -> str:
    return shop_name(number) if number else SHOP_ID

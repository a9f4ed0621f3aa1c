"""The benchmark's files: events as NDJSON and Parquet, the rest as NDJSON and CSV; made once per size."""

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
import pyarrow.parquet as pq

from tests.bench.data import CAMPAIGNS, CODES, DAYS, FIRST, FORM_IDS, SHOP_ID, Data

VERSION: Final = 4  # of the data; raise it when they change
# Events of one refresh, and how many refreshes there are files for.
LATE: Final = 1_000
REFRESHES: Final = 3
# Shops that share the same events.
SHOPS: Final = 200


def prepare(folder: Path, size: int) -> Path:
    """The folder with the files of this size."""
    target = folder / f"data-{size}-v{VERSION}"
    if (target / "complete").exists():
        return target
    target.mkdir(parents=True, exist_ok=True)
    data = Data(size)
    _events(data, target)
    for number in range(REFRESHES):
        for name, made in (("late", data.late), ("today", data.today)):
            with (target / f"{name}-{number}.ndjson").open("wb") as file:
                ndjson(made(min(LATE, data.count), number), file)
    write_lines(target / "orders.ndjson", orders_of(data, size // 50))
    orders = pyarrow.json.read_json(target / "orders.ndjson")
    pq.write_table(orders, target / "orders.parquet")
    write_lines(target / "shops.ndjson", [shop(SHOP_ID)])
    write_lines(target / "many-shops.ndjson", [shop(shop_name(number)) for number in range(SHOPS)])
    forms = [
        {"form_id": form, "shop_id": SHOP_ID, "name": f"Form {number}", "created_at": "2025-12-01"}
        for number, form in enumerate(FORM_IDS)
    ]
    write_lines(target / "forms.ndjson", forms)
    write_lines(target / "ad-spend.ndjson", _ad_spend())
    write_lines(target / "exchange-rates.ndjson", _rates())
    (target / "complete").touch()
    return target


def _events(data: Data, target: Path) -> None:
    """All events in both formats, and the same as those of many shops, each visitor in one of them."""
    schema = data.late(0, 0).schema
    shops = pa.array([shop_name(number) for number in range(SHOPS)])
    place = schema.get_field_index("shop_id")
    with (
        (target / "events.ndjson").open("wb") as lines,
        pq.ParquetWriter(target / "events.parquet", schema) as events,
        pq.ParquetWriter(target / "many-shops.parquet", schema) as many_shops,
    ):
        for table in data.events():
            events.write_table(table)
            ndjson(table, lines)
            visitor = pc.utf8_slice_codeunits(table["visitor_id"], 2).cast(pa.int64()).to_numpy()
            owner = shops.take(pa.array(visitor % SHOPS))
            many_shops.write_table(table.set_column(place, "shop_id", owner))


def shop(shop_id: str) -> dict[str, Any]:
    return {"shop_id": shop_id, "currency": "USD", "timezone": "UTC"}


def shop_name(number: int) -> str:
    return f"shop-{number}.myshopify.com"


def ndjson(table: pa.Table, file: BinaryIO) -> None:
    """Write a table as lines of JSON without its nulls, in columns: no object per row."""
    for batch in table.to_batches(max_chunksize=100_000):
        parts = [_members(batch.column(name), name) for name in table.column_names]
        # Each member ends with a comma; the last one, which is always there, with the bracket.
        shop = pc.binary_join_element_wise('"shop_id":', _quoted(batch.column("shop_id")), "")
        lines = pc.binary_join_element_wise("{", *parts, shop, "}", "")
        file.write("\n".join(lines.to_pylist()).encode() + b"\n")


def _members(column: pa.Array, name: str) -> pa.Array:
    if name == "shop_id":
        return pa.array([""] * len(column))
    text = _quoted(column) if not pa.types.is_integer(column.type) else column.cast(pa.string())
    return pc.fill_null(pc.binary_join_element_wise(f'"{name}":', text, ",", ""), "")


def _quoted(column: pa.Array) -> pa.Array:
    if pa.types.is_timestamp(column.type):
        column = pc.strftime(column, format="%Y-%m-%dT%H:%M:%SZ")
    return pc.binary_join_element_wise('"', column.cast(pa.string()), '"', "")


def write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))


def orders_of(data: Data, count: int) -> Iterable[dict[str, Any]]:
    """Three in four by visitors some time after a session, the rest by others; one in four with a code."""
    draw = data.random
    sessions = draw.integers(0, data.count, count)
    delays = draw.exponential(4 * 86_400_000, count)
    totals = draw.lognormal(8.7, 0.5, count)
    kinds = draw.integers(0, 8, count)
    for number, (session, delay, total, kind) in enumerate(
        zip(sessions.tolist(), delays.tolist(), totals.tolist(), kinds.tolist(), strict=True)
    ):
        visitor = int(data.visitor[session])
        at = int(data.start[session]) + 600_000 + int(delay)
        order: dict[str, Any] = {
            "order_id": f"o-{number}",
            "shop_id": SHOP_ID,
            "created_at": str(np.datetime64(at, "ms")) + "Z",
            "total_cents": int(total),
            "utm_source": "google",
            "utm_campaign": f"campaign {number % CAMPAIGNS}",
        }
        if kind < 6:
            order |= {"visitor_id": f"v-{visitor}", "email": f"visitor-{visitor}@example.com"}
        else:
            order["email"] = f"stranger-{number}@example.com"
        if kind < 4 and visitor % 2 == 0:
            order["customer_id"] = f"c-{visitor}"
        if kind in (0, 6):
            code = CODES[int(data.form[session])]
            order["discount_cents"] = 500
            order["discount_codes"] = [{"code": code, "discount_id": f"disc-{code}"}]
        if number % 20 == 0:
            refund = {"refund_id": f"r-{number}", "created_at": order["created_at"]}
            order["refunds"] = [refund | {"amount_cents": int(total) // 2}]
        yield order


def _ad_spend() -> Iterable[dict[str, Any]]:
    for campaign in range(CAMPAIGNS):
        for day in range(DAYS):
            yield {
                "shop_id": SHOP_ID,
                "provider": ("meta", "google")[campaign % 2],
                "campaign_id": str(1000 + campaign),
                "campaign_name": f"campaign {campaign}",
                "date": str(FIRST + timedelta(days=day)),
                "currency": ("USD", "EUR")[campaign // 2 % 2],
                "spend": round(10 + (campaign * 7 + day * 3) % 40 + 0.25, 2),
                "impressions": 1000 + campaign,
                "clicks": 20 + day % 7,
            }


def _rates() -> Iterable[dict[str, Any]]:
    for day in range(-7, DAYS + 60):
        date = str(FIRST + timedelta(days=day))
        yield {"date": date, "base": "EUR", "quote": "USD", "rate": 1.1 + day % 10 / 1000}


def rows(path: Path) -> int:
    """How many rows a file has."""
    if path.suffix == ".parquet":
        return int(pq.read_metadata(path).num_rows)
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))

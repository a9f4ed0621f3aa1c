"""A night of many shops: what was imported in one database, and what one process makes of it.

Shops have events and orders by Zipf's law: the second has half as many as the first, the tenth a tenth.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tests.bench.data import FIRST, FORM_IDS, LAST, Data, Ints
from tests.bench.files import orders_of, write_lines
from tests.bench.service import ENDPOINTS
from tests.support import postgres
from tests.support.job_commands import Commands
from tests.support.product import Product
from tests.system.hosts.services import Postgres
from warehouse.catalogue import SUMMARIES
from warehouse.tables import DIMENSIONS

_EVENTS_PER_SHOP: Final = 100
_FORMS: Final = 2
# A rollup hands its work out if it is more than 400,000 rows: fewer events count as so many.
_COUNTED_EVENTS: Final = 1_000_000

Figures = dict[str, Any]
"""The stored figures of each shop and the answers of the API, by name."""


class Night:
    """The imports of a night, with so many events, on a server."""

    def __init__(self, database: Postgres, folder: Path, events: int) -> None:
        self._database, self._shops = database, events // _EVENTS_PER_SHOP
        folder.mkdir()
        _write(folder, events, self._shops)
        self._template = f"night_{events}"
        postgres.administer(database.server, f"CREATE DATABASE {self._template}")
        url = database.server.set(database=self._template).render_as_string(hide_password=False)
        commands = Commands(url, folder)
        for file in ("shops.ndjson", "forms.ndjson", "orders.ndjson", "events.parquet"):
            commands("import", file.partition(".")[0], str(folder / file))
        times = max(_COUNTED_EVENTS // events, 1)
        commands.change(f"UPDATE import_batch SET rows = rows * {times} WHERE shop_key <> 0")
        (self.largest_batch,) = commands.rows(
            "SELECT batch_id FROM import_batch ORDER BY rows DESC, batch_id LIMIT 1"
        )
        with self.imported() as copy:
            Commands(copy, folder)("rollup")
            self.expected = self.figures(copy)
        assert f"daily_ltv_segment of {_shop_id(0)}" in self.expected

    @contextmanager
    def imported(self) -> Iterator[str]:
        """The address (for the tests) of a database in which all is imported and nothing rolled up."""
        with postgres.new_database(self._database.server, self._template) as url:
            yield url

    def figures(self, url: str) -> Figures:
        """The daily rows of every shop, and the answers to some, as the API gives them."""
        commands = Commands(url, Path())
        found: Figures = {}
        for table in (*(summary.table for summary in SUMMARIES), *(one.name for one in DIMENSIONS)):
            own = "to_jsonb(t) - 'edition'"
            rows = commands.rows(
                f"SELECT s.shop_id, md5(string_agg(({own})::text, '' ORDER BY ({own})::text)) "
                f"FROM shop s JOIN {table} t ON t.edition = s.edition GROUP BY 1"
            )
            found |= {f"{table} of {shop}": digest for shop, digest in rows}
        product = Product(url)
        for number in (0, 1, self._shops // 2, self._shops - 1):
            shop = _shop_id(number)
            for method, path in ENDPOINTS.values():
                if method == "GET":
                    path = path.replace(FORM_IDS[0], _form_id(number, 0))
                    query = f"{'&' if '?' in path else '?'}range={FIRST}..{LAST}"
                    answer = product.ask("GET", f"{path}{query}", shop)
                    assert answer.status_code == 200, (path, answer.text)
                    found[f"{path} of {shop}"] = json.dumps(answer.get_json()["data"])
        product.close()
        return found

    def assert_figures(self, url: str) -> None:
        """The figures are those that one process makes."""
        found = self.figures(url)
        differing = [
            what
            for what in found.keys() | self.expected.keys()
            if found.get(what) != self.expected.get(what)
        ]
        assert not differing, (len(differing), sorted(differing)[:40])


def _write(folder: Path, events: int, shops: int) -> None:
    """Files of the shops, and of their forms, events and orders."""
    data = Data(events)
    owners = _owners(data, shops)
    forms = [
        {"form_id": _form_id(shop, form), "shop_id": _shop_id(shop), "name": f"Form {form}"}
        for shop in range(shops)
        for form in range(_FORMS)
    ]
    shop_ids = pa.array([form["shop_id"] for form in forms])
    form_ids = pa.array([form["form_id"] for form in forms])
    write_lines(
        folder / "shops.ndjson",
        ({"shop_id": _shop_id(shop), "currency": "USD"} for shop in range(shops)),
    )
    write_lines(folder / "forms.ndjson", (form | {"created_at": str(FIRST)} for form in forms))
    schema = data.late(0, 0).schema
    shop_place, form_place = map(schema.get_field_index, ("shop_id", "form_id"))
    with pq.ParquetWriter(folder / "events.parquet", schema) as file:
        for table in data.events():
            visitor = pc.utf8_slice_codeunits(table["visitor_id"], 2).cast(pa.int64()).to_numpy()
            form = pa.array(owners[visitor] * _FORMS + visitor % _FORMS)
            table = table.set_column(shop_place, "shop_id", shop_ids.take(form))
            file.write_table(table.set_column(form_place, "form_id", form_ids.take(form)))
    orders = []
    for number, order in enumerate(orders_of(data, events // 50)):
        visitor_id = order.get("visitor_id", f"v-{number}")
        orders.append(order | {"shop_id": _shop_id(owners[int(visitor_id.removeprefix("v-"))])})
    write_lines(folder / "orders.ndjson", orders)


def _owners(data: Data, shops: int) -> Ints:
    """The shop of each visitor; none is without any."""
    weights = 1 / np.arange(1, shops + 1)
    drawn = data.random.choice(shops, data.visitors - shops, p=weights / weights.sum())
    return np.concatenate([np.arange(shops), drawn])


def _shop_id(shop: int) -> str:
    return f"shop-{shop}.example"


def _form_id(shop: int, form: int) -> str:
    return f"0192b000-0000-7000-{8000 + form}-{shop:012d}"

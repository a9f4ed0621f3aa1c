"""Fixtures: a migrated warehouse with two shops, and the import of rows into it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, text

from jobs.importing.files.detect import ImportOptions
from jobs.importing.formats import FORMATS
from jobs.importing.import_file import import_file
from jobs.importing.kinds import KINDS
from jobs.importing.kinds.base import Counts
from tests.support.form_calls import SHOP
from tests.support.hashing import use_known_secret
from tests.support.import_files import written
from warehouse import tables
from warehouse.connections.arrow import open_arrow
from warehouse.connections.engine import open_engine
from warehouse.migrations.migrate import migrate

SHOPS = (("a.example", "EUR"), ("b.example", "JPY"))


@dataclass
class Warehouse:
    """A warehouse under test, and the folder in which files for it are written."""

    url: str
    folder: Path

    def take(self, kind: str, rows: Any, name: str = "in.ndjson") -> dict[str, int]:
        """Import rows (or bytes) as a file of this name; the counts."""
        return self.take_file(kind, written(self.folder / name, rows))

    def take_file(
        self, kind: str, path: Path, shop: str | None = None, named: str = "", dates: str = ""
    ) -> dict[str, int]:
        """Import a file: of this shop, in this format, with dates in this order, where they are said."""
        counts = Counts()
        options = ImportOptions(FORMATS.get(named), shop, dates)
        with open_arrow(self.url) as bulk:
            import_file(bulk, KINDS[kind], path, lambda _: None, counts, options=options)
        return counts.report()

    def rows(self, sql: str) -> list[dict[str, Any]]:
        with open_engine(self.url).connect() as connection:
            return [dict(row) for row in connection.execute(text(sql)).mappings()]

    def change(self, sql: str) -> None:
        with open_engine(self.url).begin() as connection:
            connection.execute(text(sql))

    def reasons(self) -> list[tuple[int, str]]:
        """Line and reason of every reject."""
        found = self.rows("SELECT line, reason FROM reject ORDER BY line, reject_id")
        return [(row["line"], row["reason"]) for row in found]


def _warehouse(url: str, folder: Path) -> Warehouse:
    engine = open_engine(url)
    migrate(engine)
    use_known_secret(engine)
    with engine.begin() as connection:
        for shop_id, currency in SHOPS:
            connection.execute(
                insert(tables.shop).values(shop_id=shop_id, currency=currency, timezone="UTC")
            )
    engine.dispose()
    return Warehouse(url, folder)


File = tuple[str, list[Any]]
"""A kind, and rows of it; of kind `events`, calls of Segment."""


def load(warehouse: Warehouse, file: File) -> None:
    kind, rows = file
    path = warehouse.folder / f"{kind}.ndjson"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    warehouse.take_file(kind, path, SHOP if kind == "events" else None)


def state(warehouse: Warehouse) -> tuple[list[dict[str, Any]], int, int]:
    """The forms, and the counts of them that quotas look at."""
    rows = warehouse.rows("SELECT * FROM form ORDER BY form_id")
    (shop,) = warehouse.rows(f"SELECT * FROM shop WHERE shop_id = '{SHOP}'")
    return rows, shop["form_count"], shop["form_bytes"]


@pytest.fixture
def warehouse(warehouse_url: str, tmp_path: Path) -> Warehouse:
    """A warehouse of either kind of database."""
    return _warehouse(warehouse_url, tmp_path)


@pytest.fixture
def sqlite_warehouse(sqlite_url: str, tmp_path: Path) -> Warehouse:
    return _warehouse(sqlite_url, tmp_path)


@pytest.fixture
def postgres_warehouse(postgres_url: str, tmp_path: Path) -> Warehouse:
    return _warehouse(postgres_url, tmp_path)


NewWarehouse = Callable[[], Warehouse]


@pytest.fixture
def new_warehouse(new_warehouse_url: Callable[[], str], tmp_path: Path) -> NewWarehouse:
    """A fresh one at each call, of either kind of database."""
    return lambda: _warehouse(new_warehouse_url(), tmp_path)

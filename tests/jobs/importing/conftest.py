"""A warehouse with two shops, into which rows are imported."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.warehouse import Warehouse

NewWarehouse = Callable[[], Warehouse]


def with_shops(url: str, folder: Path) -> Warehouse:
    warehouse = Warehouse(url, folder)
    shops = "INSERT INTO shop (shop_id, currency, timezone) VALUES"
    warehouse.change(f"{shops} ('a.example', 'EUR', 'UTC'), ('b.example', 'JPY', 'UTC')")
    return warehouse


@pytest.fixture
def warehouse(warehouse_url: str, tmp_path: Path) -> Warehouse:
    """A warehouse of either kind of database."""
    return with_shops(warehouse_url, tmp_path)


@pytest.fixture
def sqlite_warehouse(sqlite_url: str, tmp_path: Path) -> Warehouse:
    return with_shops(sqlite_url, tmp_path)


@pytest.fixture
def postgres_warehouse(postgres_url: str, tmp_path: Path) -> Warehouse:
    return with_shops(postgres_url, tmp_path)


@pytest.fixture
def new_warehouse(new_warehouse_url: Callable[[], str], tmp_path: Path) -> NewWarehouse:
    """A fresh one at each call, of either kind of database."""
    return lambda: with_shops(new_warehouse_url(), tmp_path)

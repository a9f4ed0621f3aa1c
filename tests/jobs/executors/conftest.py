"""Shops whose pending rows are worth several shares, and a Dask cluster of two workers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.jobs.conftest import Commands
from tests.support.dask_cluster import Cluster, dask_cluster
from tests.support.import_files import event, form, order

SHOPS: Final = 16
# One of orders and one of events.
BATCHES_PER_SHOP: Final = 2
# A share for two workers is an eighth of all: two shops.
_ROWS_PER_BATCH: Final = 50_000


def make_shops(commands: Commands) -> None:
    """Import SHOPS shops of BATCHES_PER_SHOP batches each."""
    names = [f"shop-{number}.example" for number in range(SHOPS)]
    commands.take("shops", [{"shop_id": name, "currency": "EUR"} for name in names])
    commands.take("orders", [order(shop_id=name) for name in names])
    commands.take("forms", [form(shop_id=name) for name in names])
    commands.take("events", [event(shop_id=name) for name in names])
    make_many_rows(commands)


def make_many_rows(commands: Commands) -> None:
    """Have each batch count as so many rows that the shops are worth several shares."""
    commands.change(f"UPDATE import_batch SET rows = {_ROWS_PER_BATCH} WHERE shop_key <> 0")


def assert_whole(commands: Commands) -> None:
    """All that was imported is in the answers, once."""
    assert commands.status()["queued"]["rows"] == 0
    counted = "SELECT SUM(d.orders) FROM shop s JOIN daily_attribution d ON d.edition = s.edition"
    assert commands.rows(counted) == commands.rows("SELECT COUNT(*) FROM raw_order")
    assert "no differences" in commands("verify")


@pytest.fixture
def cluster(postgres_commands: Commands, tmp_path: Path) -> Iterator[Cluster]:
    with dask_cluster(postgres_commands.url, tmp_path / "dask", workers=2) as started:
        yield started

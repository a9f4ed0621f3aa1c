"""Shops whose pending rows are worth several groups, and a Dask cluster of two workers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from jobs.pipeline.batching import BATCH_ROWS
from tests.support.dask_cluster import Cluster, dask_cluster
from tests.support.import_files import event, form, order
from tests.support.job_commands import Commands

SHOPS: Final = 16
# One of orders and one of events for each.
ALL_BATCHES: Final = 2 * SHOPS
# One of two workers holds an eighth of all at once: two shops.
ROWS_PER_BATCH: Final = BATCH_ROWS // SHOPS


def make_shops(commands: Commands) -> None:
    """Import SHOPS shops of two batches each."""
    names = [f"shop-{number}.example" for number in range(SHOPS)]
    commands.take("shops", [{"shop_id": name, "currency": "EUR"} for name in names])
    commands.take("orders", [order(shop_id=name) for name in names])
    commands.take("forms", [form(shop_id=name) for name in names])
    commands.take("events", [event(shop_id=name) for name in names])
    make_many_rows(commands)


def make_many_rows(commands: Commands) -> None:
    """Have each batch count as so many rows that the shops are worth several groups."""
    commands.change(f"UPDATE import_batch SET rows = {ROWS_PER_BATCH} WHERE shop_key <> 0")


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

"""Raw rows that are removed: the answers are the oracle's of a world in which they never were."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given

from jobs.pipeline.removal import RawRows, remove_rows
from jobs.run.job_run import JobRun, shop_keys
from tests.support.answers import assert_answers
from tests.support.examples import EXAMPLES, start_over, tell
from tests.support.oracle.orders import version_of
from tests.support.oracle.records import Row
from tests.support.product import Product
from tests.support.strategies import portions, seeds, worlds
from tests.support.worlds import World
from warehouse.domain.time import to_micros


@pytest.fixture
def product(warehouse_url: str, monkeypatch: pytest.MonkeyPatch) -> Product:
    monkeypatch.setenv("WAREHOUSE_URL", warehouse_url)
    return Product(warehouse_url)


def remove(product: Product, shop_id: str, events: list[Row], versions: list[Row]) -> None:
    """Remove these events and versions of orders of a shop, all of which were imported."""
    product.close()
    updated = [version_of(row)[0] for row in versions]
    with JobRun("removal") as run:
        (shop_key,) = shop_keys(run.connection, shop_id)
        ids = pa.array([row["event_id"] for row in events], pa.string())
        orders = {
            "order_id": pa.array([row["order_id"] for row in versions], pa.string()),
            "updated_at": pa.array([to_micros(at) for at in updated], pa.int64()),
        }
        run.connection.stage("test_events", pa.table({"event_id": ids}))
        run.connection.stage("test_orders", pa.table(orders))
        run.connection.commit()
        which = RawRows(
            "event_id IN (SELECT event_id FROM test_events)",
            "(order_id, updated_at) IN (SELECT order_id, updated_at FROM test_orders)",
        )
        expected = {"events": len(events), "orders": len(versions)}
        assert remove_rows(run, [shop_key], which) == expected
        assert remove_rows(run, [shop_key], which) == {"events": 0, "orders": 0}


def without(given_world: World, is_gone: Callable[[Row], bool]) -> tuple[World, list[Row]]:
    """A world without some of its events and versions of orders, and these."""
    gone: list[Row] = []
    records = dict(given_world.records)
    for kind in ("events", "orders"):
        rows = [(row, is_gone(row)) for row in records[kind]]
        gone += [row for row, goes in rows if goes]
        records[kind] = [row for row, goes in rows if not goes]
    return replace(given_world, records=records), gone


@given(given_world=worlds(), seed=seeds)
@EXAMPLES
def test_removed_rows_are_in_no_answer(product: Product, given_world: World, seed: int) -> None:
    """Rows that no edition has applied yet go, too, and the same rows can come again."""
    rng = Random(seed)
    start_over(product, given_world)
    share = rng.choice((0.05, 0.3, 0.6, 1.0))
    left, gone = without(given_world, lambda _row: rng.random() < share)
    files = portions(given_world.records, rng)
    for kind, rows in files:
        product.load(kind, rows)
        if rng.random() < 0.4:
            product.rollup()
    for shop_id in given_world.casts:
        own = [row for row in gone if row["shop_id"] == shop_id]
        remove(
            product,
            shop_id,
            [row for row in own if "event_id" in row],
            [row for row in own if "order_id" in row],
        )
    tell(f"removed: {gone}")
    product.rollup()
    assert_answers(product, left, "after the removal")
    assert product.verify_all(), "verify --all finds differences"
    for kind, rows in files:
        product.load(kind, rows)
    product.rollup()
    assert_answers(product, given_world, "after importing them again")

"""Metrics of the warehouse. Now is 2026-03-31 12:00."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from prometheus_client import CollectorRegistry
from sqlalchemy import Engine, insert, text, update

from tests.support.fixtures import Clock
from tests.support.shop_builder import ShopBuilder, instant, writing
from warehouse.domain.time import MICROS_PER_SECOND, NEVER
from warehouse.tables import edition, edition_batch, import_batch, job_run, reject
from web.cli import main
from web.collector.server import counting
from web.db.database import Database
from web.metrics.endpoint import WarehouseGauges
from web.metrics.requests import IN_PROGRESS, REQUESTS, SECONDS

SHOP = {"shop": "example.myshopify.com"}


@pytest.fixture
def registry(warehouse_url: str, engine: Engine, clock: Clock) -> Iterator[CollectorRegistry]:
    database = Database(warehouse_url)
    found = CollectorRegistry()
    found.register(WarehouseGauges(database, clock))
    yield found
    database.close()


def test_rollups(registry: CollectorRegistry, engine: Engine, shop: ShopBuilder) -> None:
    other = ShopBuilder(engine, "other.example", rolled_up=False)
    batches = [
        # shop, rows, when; the first is taken in
        (shop.key, 100, "2026-03-31T10:00:00"),
        (shop.key, 20, "2026-03-31T11:00:00"),
        (shop.key, 3, "2026-03-31T11:59:00"),
        (other.key, 7, "2026-03-31T11:58:00"),
    ]
    with writing(engine) as connection:
        for shop_key, rows, at in batches:
            values = {"shop_key": shop_key, "rows": rows, "imported_at": instant(at)}
            connection.execute(insert(import_batch), {"kind": "events", **values})
        first, second = (
            connection.execute(text("SELECT batch_id FROM import_batch")).scalars().all()[:2]
        )
        connection.execute(
            update(edition)
            .where(edition.c.edition == shop.edition)
            .values(applied_through=first, rolled_up_at=instant("2026-03-31T10:30:00"))
        )
        connection.execute(
            insert(edition_batch),
            {"edition": shop.edition, "batch_id": second, "attempts": 5, "retry_at": NEVER},
        )

    def value(name: str, shop_id: str = SHOP["shop"]) -> float | None:
        return registry.get_sample_value(f"formrevenue_{name}", {"shop": shop_id})

    assert value("waiting_batches") == 2
    assert value("waiting_rows") == 23
    assert value("rollup_lag_seconds") == 3600
    assert value("set_aside_batches") == 1
    assert value("last_rollup_timestamp_seconds") == 1774953000
    assert value("waiting_rows", other.shop_id) == 7
    assert value("rollup_lag_seconds", other.shop_id) == 120
    assert value("set_aside_batches", other.shop_id) == 0
    assert value("last_rollup_timestamp_seconds", other.shop_id) is None


def test_runs_and_rejects(registry: CollectorRegistry, engine: Engine, clock: Clock) -> None:
    ran = [
        ("import", "done", 50, 100),
        ("import", "done", 7, 200),
        ("import", "failed", 1, 300),
        ("nightly", "running", 9, clock.now // MICROS_PER_SECOND),
        ("verify", "running", 0, 400),
    ]
    with writing(engine) as connection:
        for job, state, rows, at in ran:
            micros = at * MICROS_PER_SECOND
            values = {"job": job, "state": state, "rows": rows}
            texts = {"words": "", "owner": "", "phases": "", "error": ""}
            connection.execute(
                insert(job_run), {**values, **texts, "started_at": micros, "seen_at": micros}
            )
        for kind in ("orders", "orders", "events"):
            texts = {"kind": kind, "file": "f", "reason": "r", "text": "t"}
            connection.execute(insert(reject), texts)

    def value(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(f"formrevenue_{name}", labels)

    assert value("runs", job="import", state="done") == 2
    assert value("run_rows", job="import", state="done") == 57
    assert value("last_run_timestamp_seconds", job="import", state="done") == 200
    assert value("runs", job="import", state="failed") == 1
    assert value("runs", job="nightly", state="running") == 1
    # Nothing was seen of it for as long as a lease lasts.
    assert value("runs", job="verify", state="died") == 1
    assert value("rejected_rows", kind="orders") == 2
    assert value("rejected_rows", kind="events") == 1
    assert value("warehouse_up") == 1


def test_a_warehouse_that_does_not_answer(registry: CollectorRegistry, engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE job_run"))
    assert registry.get_sample_value("formrevenue_warehouse_up") == 0
    assert registry.get_sample_value("formrevenue_waiting_rows", SHOP) is None


def test_every_metric_is_documented(registry: CollectorRegistry) -> None:
    readme = (Path(__file__).parents[3] / "jobs" / "README.md").read_text()
    counting(registry)
    registered = (REQUESTS, SECONDS, IN_PROGRESS, registry)
    described = [one for of in registered for one in of.collect()]
    names = {f"{one.name}_total" if one.type == "counter" else one.name for one in described}
    assert set(re.findall(r"`(formrevenue_\w+)`", readme)) == names


def test_a_port_cannot_have_both(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAREHOUSE_URL", sqlite_url)
    monkeypatch.setenv("METRICS_PORT", "8123")
    refused = CliRunner().invoke(main, ["serve", "--port", "8123"])
    assert refused.exit_code == 1
    assert refused.output == (
        "Error: METRICS_PORT=8123: metrics would be on port 8123, which the server itself has; give them "
        "another\n"
    )

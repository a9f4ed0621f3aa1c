"""Conditions that need an operator, as `status`, the metrics and `/readyz` say them."""

from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from jobs.run.clock import now_micros
from tests.support.commands import Command
from tests.support.job_commands import Commands
from tests.support.waiting import PATIENCE_SECONDS
from warehouse.connections.arrow import open_arrow
from warehouse.domain.time import MICROS_PER_SECOND
from warehouse.operations import conditions
from web.app import close_app, create_app
from web.db.database import Database
from web.metrics.warehouse_gauges import WarehouseGauges

MINUTE = 60 * MICROS_PER_SECOND
HOUR = 60 * MINUTE


def needs(commands: Commands, now: int = 0) -> dict[str, list[str]]:
    """The subjects of the findings of each condition at an instant (now). All doors say these: see
    `test_every_door_says_what_needs_an_operator`."""
    found: dict[str, list[str]] = {}
    for finding in findings(commands, now or now_micros()):
        found.setdefault(finding.condition, []).append(finding.subject)
    return found


def findings(commands: Commands, now: int) -> list[conditions.Finding]:
    with open_arrow(commands.url) as connection:
        return conditions.find(lambda sql: connection.table(sql).to_pylist(), now, 5)


def ready(commands: Commands, now: int) -> Any:
    """`needs` of `/readyz`, which can answer requests all the same."""
    app = create_app(commands.url, lambda: now)
    with pytest.MonkeyPatch.context() as patch:
        # A slow machine may not count within the second that it has.
        patch.setattr("web.db.probe._SECONDS", PATIENCE_SECONDS)
        answer = app.test_client().get("/readyz").get_json()
    close_app(app)
    assert answer["status"] == "ready"
    return answer["needs"]


def gauges(commands: Commands, now: int) -> dict[str, float]:
    """The numbers of the metrics."""
    registry, database = CollectorRegistry(), Database(commands.url)
    registry.register(WarehouseGauges(database, lambda: now))
    samples = {
        sample.labels["condition"]: sample.value
        for metric in registry.collect()
        for sample in metric.samples
        if sample.name == "formrevenue_needs_operator"
    }
    database.close()
    assert len(samples) == 18
    return {condition: number for condition, number in samples.items() if number}


def started(commands: Commands) -> Command:
    """A scheduler that has shown a sign of life and has refreshed."""
    scheduler = commands.start("scheduler")
    commands.wait_until("SELECT COUNT(*) FROM scheduler")
    commands.wait_until("SELECT COUNT(*) FROM job_run WHERE job = 'refresh' AND state = 'done'")
    return scheduler

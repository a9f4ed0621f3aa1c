"""Conditions that need an operator, as `status`, the metrics and `/readyz` say them."""

from threading import Lock
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from jobs.scheduler.schedule import schedule
from jobs.scheduler.scheduler_heartbeat import SchedulerHeartbeat
from tests.support.commands import Command
from tests.support.job_commands import Commands
from tests.support.waiting import PATIENCE_SECONDS
from warehouse.connections.arrow import open_arrow
from warehouse.domain.time import MICROS_PER_SECOND, now_micros
from warehouse.operations import conditions
from warehouse.operations.schedulers import record_heartbeat
from web.app import close_app, create_app
from web.db.database import Database
from web.metrics.endpoint import WarehouseGauges

MINUTE = 60 * MICROS_PER_SECOND
HOUR = 60 * MINUTE


def needs(commands: Commands, now: int = 0) -> dict[str, list[str]]:
    """The subjects of the findings of each condition at an instant (now), of which `/readyz` and the metrics
    say the same. `status` finds them in the same way: `test_every_door_says_what_needs_an_operator`."""
    now = now or now_micros()
    found: dict[str, list[str]] = {}
    for finding in findings(commands, now):
        found.setdefault(finding.condition, []).append(finding.subject)
    assert ready(commands, now) == sorted(found)
    assert gauges(commands, now) == {name: len(subjects) for name, subjects in found.items()}
    return found


def findings(commands: Commands, now: int) -> list[conditions.Alert]:
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
    assert samples.keys() == conditions.counts([]).keys()
    return {condition: number for condition, number in samples.items() if number}


def seen_by_scheduler(commands: Commands) -> None:
    """Have what a scheduler on this host sees be recorded, as it does by itself."""
    commands.change("DELETE FROM scheduler")
    with pytest.MonkeyPatch.context() as patch, open_arrow(commands.url) as connection:
        for name, value in commands.settings.items():
            patch.setenv(name, value)
        signs = SchedulerHeartbeat(commands.url, commands.landing, schedule, Lock())
        record_heartbeat(connection, signs._record(connection))


def started(commands: Commands) -> Command:
    """A scheduler that has shown a sign of life and has refreshed."""
    scheduler = commands.start("scheduler")
    commands.wait_until("SELECT COUNT(*) FROM scheduler")
    commands.wait_until("SELECT COUNT(*) FROM job_run WHERE job = 'refresh' AND state = 'done'")
    return scheduler

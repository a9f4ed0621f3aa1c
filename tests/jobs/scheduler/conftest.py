"""Conditions that need an operator, as `status`, the metrics and `/readyz` say them."""

from typing import Any

from prometheus_client import CollectorRegistry

from jobs.run.clock import now_micros
from tests.jobs.conftest import Commands, Process
from tests.support.waiting import wait_until
from warehouse.connections.arrow import open_arrow
from warehouse.domain.time import MICROS_PER_SECOND
from warehouse.operations import conditions
from web.app import close_app, create_app
from web.db.database import Database
from web.metrics.warehouse_gauges import WarehouseGauges

MINUTE = 60 * MICROS_PER_SECOND
HOUR = 60 * MINUTE


def needs(commands: Commands, now: int = 0) -> dict[str, list[str]]:
    """The subjects of the findings of each condition, as `status` has them at an instant (now); the
    metrics have as many, and `/readyz` the same conditions."""
    at = now or now_micros()
    with open_arrow(commands.url) as connection:
        findings = conditions.find(lambda sql: connection.table(sql).to_pylist(), at, 5)
    found: dict[str, list[str]] = {}
    for finding in findings:
        found.setdefault(finding.condition, []).append(finding.subject)
    numbers = {condition: len(subjects) for condition, subjects in found.items()}
    assert ready(commands, at) == sorted(numbers)
    assert gauges(commands, at) == numbers
    if not now:
        report = commands.status(1 if found else 0)
        listed = [(one["condition"], one["subject"]) for one in report["conditions"]]
        assert listed == [(one.condition, one.subject) for one in findings]
        assert report["problems"] == [one.message for one in findings]
        said = commands("status", status=1 if found else 0)
        assert ("NEEDS YOU: " in said) == bool(found)
    return found


def ready(commands: Commands, now: int) -> Any:
    """`needs` of `/readyz`, which can answer requests all the same."""
    app = create_app(commands.url, lambda: now)
    client = app.test_client()
    answers: list[Any] = []

    def counts() -> bool:
        """A slow machine may not count within the second that it has."""
        answers.append(client.get("/readyz").get_json())
        return answers[-1].get("needs") is not None

    wait_until(counts)
    close_app(app)
    assert answers[-1]["status"] == "ready"
    return answers[-1]["needs"]


def gauges(commands: Commands, now: int) -> dict[str, float]:
    registry, database = CollectorRegistry(), Database(commands.url)
    registry.register(WarehouseGauges(database, lambda: now))
    samples = {
        sample.labels["condition"]: sample.value
        for metric in registry.collect()
        for sample in metric.samples
        if sample.name == "formrevenue_needs_operator"
    }
    database.close()
    assert len(samples) == 10
    return {condition: number for condition, number in samples.items() if number}


def started(commands: Commands) -> Process:
    """A scheduler that has shown a sign of life and has refreshed."""
    scheduler = commands.start("scheduler")
    commands.wait_until("SELECT COUNT(*) FROM scheduler")
    commands.wait_until("SELECT COUNT(*) FROM job_run WHERE job = 'refresh' AND state = 'done'")
    return scheduler

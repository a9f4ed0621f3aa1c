"""The parts that the checks of all conditions share: what a check looks at, runs on record, spans of time."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final

from warehouse.domain.time import MICROS_PER_SECOND, cron, from_micros
from warehouse.editions.pending_batches import sql_list
from warehouse.operations import job_runs
from warehouse.operations.job_runs import DIED, FAILED
from warehouse.operations.schedulers import Landing

MINUTE: Final = 60 * MICROS_PER_SECOND

Row = dict[str, Any]
# Runs a statement without parameters. The API and jobs have connections of different kinds.
Query = Callable[[str], Iterable[Row]]
# The subject, the message and the shop key of an alert (`conditions.py`).
Found = tuple[str, str, int]


@dataclass(frozen=True)
class At:
    """The facts that all checks look at."""

    query: Query
    now: int
    # The time between two refreshes.
    refresh: int
    # The schedulers on record, the one that was seen last first.
    schedulers: list[Row]
    landing: list[Landing]
    # The keys of the shops that are looked at, None for all.
    shops: Collection[int] | None = None

    def of_shops(self, column: str = "s.shop_key") -> str:
        """The SQL condition that a row is of the shops that are looked at."""
        return "1 = 1" if self.shops is None else f"{column} IN ({sql_list(self.shops)})"


def last_run(at: At, job: str) -> Row | None:
    """The last run of a job."""
    return run_of(at, f"run_id = (SELECT MAX(run_id) FROM job_run WHERE job = '{job}')")


def run_of(at: At, which: str) -> Row | None:
    """A run that is on record. One whose process ended before it was done has failed."""
    for row in at.query(f"SELECT * FROM job_run WHERE {which}"):
        run = job_runs.at(dict(row), at.now)
        if run["state"] == DIED:
            run |= {"state": FAILED, "error": "its process ended before it was done"}
        return run
    return None


def was_due(schedule: str, since: int, before: int) -> bool:
    """Whether a cron schedule had a time after the instant `since` and before the instant `before`."""
    due = cron(schedule).get_next_fire_time(None, from_micros(since))
    return due is not None and due < from_micros(before)


def span(micros: int) -> str:
    """A span of time for people: `12 minutes`, `3 hours`, `5 days`."""
    minutes = micros // MINUTE
    if minutes < 120:
        return f"{minutes} minutes"
    return f"{minutes // 60} hours" if minutes < 48 * 60 else f"{minutes // (24 * 60)} days"

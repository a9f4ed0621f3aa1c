"""The conditions that need a person: declared once, for `status`, the metrics, `/readyz` and pages.

Each is a query and a rule in `_CHECKS`; they look at the whole warehouse, for all shops at once, or at the
shops of a page, and each part is a look-up in an index or a sum over few rows. News for members alone
is in `warehouse/shops/shop_state.py`. A new condition is a name, a check (in `process_checks.py`,
`figure_checks.py` or `data_checks.py`) and a line in `_CHECKS`; where a page shows it, also in `OF_SHOPS`.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from warehouse.domain.time import MICROS_PER_SECOND
from warehouse.operations import data_checks, figure_checks, process_checks
from warehouse.operations.checks import At, Found, Query, Row
from warehouse.operations.schedulers import REFRESH, Landing, landings

SET_ASIDE: Final = "set-aside"
BACKLOG: Final = "backlog"
NO_SCHEDULER: Final = "no-scheduler"
LANDING_WAITS: Final = "landing-waits"
LANDING_FAILED: Final = "landing-failed"
FAILED_FILES: Final = "failed-files"
LEFT_ALONE: Final = "left-alone"
DISK_LOW: Final = "disk-low"
LOG_KEPT: Final = "log-kept"
NO_COLLECTOR: Final = "no-collector"
NO_BACKUP: Final = "no-backup"
NO_EVENTS: Final = "no-events"
NO_ORDERS: Final = "no-orders"
MANY_REJECTS: Final = "many-rejects"
UNKNOWN_FORMS: Final = "unknown-forms"
COLLECT_LIMIT: Final = "collect-limit"
ROWS_LIMIT: Final = "rows-limit"
REMOVAL_FAILED: Final = "removal-failed"
VERIFY_FAILED: Final = "verify-failed"
NIGHTLY_FAILED: Final = "nightly-failed"
PULL_FAILED: Final = "pull-failed"

_SCHEDULERS: Final = "SELECT * FROM scheduler ORDER BY seen_at DESC"

# The check of each condition, the gravest first.
_CHECKS: Final[dict[str, Callable[[At], Iterator[Found]]]] = {
    SET_ASIDE: figure_checks.set_aside,
    REMOVAL_FAILED: figure_checks.removal_failed,
    VERIFY_FAILED: figure_checks.verify_failed,
    NIGHTLY_FAILED: figure_checks.nightly_failed,
    NO_SCHEDULER: process_checks.no_scheduler,
    BACKLOG: figure_checks.backlog,
    NO_COLLECTOR: process_checks.no_collector,
    DISK_LOW: process_checks.of_hosts(DISK_LOW),
    LOG_KEPT: process_checks.of_hosts(LOG_KEPT),
    NO_BACKUP: process_checks.no_backup,
    LANDING_WAITS: process_checks.landing_waits,
    LANDING_FAILED: process_checks.landing_failed,
    FAILED_FILES: process_checks.of_hosts(FAILED_FILES),
    LEFT_ALONE: process_checks.of_hosts(LEFT_ALONE),
    PULL_FAILED: process_checks.pull_failed,
    NO_EVENTS: data_checks.no_events,
    NO_ORDERS: data_checks.no_orders,
    MANY_REJECTS: data_checks.many_rejects,
    UNKNOWN_FORMS: data_checks.unknown_forms,
    COLLECT_LIMIT: data_checks.collect_limit,
    ROWS_LIMIT: data_checks.rows_limit,
}

OF_SHOPS: Final = (
    SET_ASIDE,
    REMOVAL_FAILED,
    VERIFY_FAILED,
    BACKLOG,
    PULL_FAILED,
    NO_EVENTS,
    NO_ORDERS,
    MANY_REJECTS,
    UNKNOWN_FORMS,
    COLLECT_LIMIT,
)
"""The conditions that the pages of a shop show."""


@dataclass(frozen=True)
class Alert:
    """A condition that holds, and so needs a person."""

    condition: str
    # The shop or pull that it is about, "" for the whole warehouse.
    subject: str
    # A sentence: the fault, and what to do.
    message: str
    # The shop whose pages show it, or 0.
    shop_key: int


def find(
    query: Query, now: int, refresh_minutes: int, own_landing: Landing | None = None
) -> list[Alert]:
    """The conditions that need a person at an instant.

    `refresh_minutes`: of the environment; the schedule of the last scheduler that was seen counts before
    it. `own_landing`: a folder of this host, which the caller sees by itself; the others are as their
    schedulers saw them last.
    """
    schedulers = list(query(_SCHEDULERS))
    refresh = _refresh(schedulers, refresh_minutes)
    at = At(query, now, refresh, schedulers, landings(schedulers, now, own_landing))
    return [Alert(name, *found) for name, check in _CHECKS.items() for found in check(at)]


def find_of_shops(
    query: Query, now: int, refresh_minutes: int, shops: Collection[int]
) -> list[Alert]:
    """The conditions of these shops (by their keys) that their pages show."""
    schedulers = list(query(_SCHEDULERS))
    at = At(query, now, _refresh(schedulers, refresh_minutes), schedulers, [], shops)
    return (
        [Alert(name, *found) for name in OF_SHOPS for found in _CHECKS[name](at)] if shops else []
    )


def _refresh(schedulers: list[Row], refresh_minutes: int) -> int:
    """The time between two refreshes."""
    jobs = json.loads(schedulers[0]["schedule"]) if schedulers else []
    seconds = (job["every_seconds"] for job in jobs if job["job"] == REFRESH)
    return next(seconds, refresh_minutes * 60) * MICROS_PER_SECOND


def counts(alerts: Iterable[Alert]) -> dict[str, int]:
    """The number of alerts of each condition, those without any too."""
    found = Counter(alert.condition for alert in alerts)
    return {condition: found[condition] for condition in _CHECKS}

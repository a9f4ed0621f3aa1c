"""The conditions that need a person: declared once, for `status`, the metrics, `/readyz` and pages.

Each is a query and a rule in `_CHECKS`; they look at the whole warehouse, for all shops at once, or at the
shops of a page, and each part is a look-up in an index or a sum over few rows. What is news to members alone
is in `shop_state.py`. A new condition is a name, a function, and a line in `_CHECKS`; where a page shows it,
it is in `OF_SHOPS`, too.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from warehouse import command
from warehouse.domain.time import (
    MICROS_PER_DAY,
    MICROS_PER_SECOND,
    NEVER,
    day_date,
    from_micros,
    iso_millis,
)
from warehouse.editions.failed_batches import FROM_SET_ASIDE
from warehouse.editions.pending_batches import from_waiting, sql_list
from warehouse.operations import imports, job_runs
from warehouse.operations.dropped_files import POSTPONED
from warehouse.operations.job_runs import DIED, DONE, FAILED
from warehouse.operations.process_id import machine_of
from warehouse.operations.schedulers import ALIVE_MICROS, BACKUP, REFRESH, Landing, landings
from warehouse.operations.shop_pulls import ERROR
from warehouse.operations.uncollected import TOO_MANY_BYTES
from warehouse.tables.facts import NO_MILESTONE

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
VERIFY_FAILED: Final = "verify-failed"
NIGHTLY_FAILED: Final = "nightly-failed"
PULL_FAILED: Final = "pull-failed"

Row = dict[str, Any]
# Runs a statement without parameters. The API and jobs have connections of different kinds.
Query = Callable[[str], Iterable[Row]]

MISSED_REFRESHES: Final = 3
"""Refreshes that may be missing before somebody should look."""

_MINUTE: Final = 60 * MICROS_PER_SECOND
# How long a landed file may lie.
_LANDING_MICROS: Final = 10 * _MINUTE
# A shop has daily orders (or events) if it had some on so many of the days that end with its newest one.
_ORDER_DAYS: Final = 10
_OF_DAYS: Final = 14
_NO_ORDERS_MICROS: Final = 2 * MICROS_PER_DAY
# A shop that has had none for longer than this is closed, not broken.
_CLOSED_MICROS: Final = 30 * MICROS_PER_DAY
_NO_BACKUP_MICROS: Final = 2 * MICROS_PER_DAY
_MAX_REJECTED_PERCENT: Final = 5
# Enough that each host's last run is among them.
_LANDING_RUNS: Final = 100
_SCHEDULERS: Final = "SELECT * FROM scheduler ORDER BY seen_at DESC"
_SCHEDULED_PULLS: Final = (
    "SELECT name, schedule, set_up_at, ran_at FROM pull WHERE schedule <> '' ORDER BY name"
)


@dataclass(frozen=True)
class Finding:
    """One thing that needs a person. `subject`: the shop or pull that it is about, "" for the whole
    warehouse. `message` says what it is and what to do. `shop_key`: the shop whose pages show it, or 0."""

    condition: str
    subject: str
    message: str
    shop_key: int = 0


def find(
    query: Query, now: int, refresh_minutes: int, own_landing: Landing | None = None
) -> list[Finding]:
    """The conditions that need a person at an instant.

    `refresh_minutes`: of the environment; the schedule of the last scheduler that was seen counts before
    it. `own_landing`: a folder of this host, which the caller sees by itself; the others are as their
    schedulers saw them last.
    """
    schedulers = list(query(_SCHEDULERS))
    refresh = _refresh(schedulers, refresh_minutes)
    at = _At(query, now, refresh, schedulers, landings(schedulers, now, own_landing))
    return [finding for check in _CHECKS.values() for finding in check(at)]


def find_of_shops(
    query: Query, now: int, refresh_minutes: int, shops: Collection[int]
) -> list[Finding]:
    """The conditions of these shops (by their keys) that their pages show."""
    schedulers = list(query(_SCHEDULERS))
    at = _At(query, now, _refresh(schedulers, refresh_minutes), schedulers, [], shops)
    return [finding for name in OF_SHOPS for finding in _CHECKS[name](at)] if shops else []


def _refresh(schedulers: list[Row], refresh_minutes: int) -> int:
    """The time between two refreshes."""
    jobs = json.loads(schedulers[0]["schedule"]) if schedulers else []
    seconds = (job["every_seconds"] for job in jobs if job["job"] == REFRESH)
    return next(seconds, refresh_minutes * 60) * MICROS_PER_SECOND


def counts(findings: Iterable[Finding]) -> dict[str, int]:
    """How many findings there are of each condition, those without any too."""
    found = Counter(finding.condition for finding in findings)
    return {condition: found[condition] for condition in _CHECKS}


@dataclass(frozen=True)
class _At:
    """The facts that all checks look at. `refresh`: the time between two refreshes. `schedulers`: those on
    record, the one that was seen last first. `shops`: the keys of those that are looked at, None for all."""

    query: Query
    now: int
    refresh: int
    schedulers: list[Row]
    landing: list[Landing]
    shops: Collection[int] | None = None

    def of_shops(self, column: str = "s.shop_key") -> str:
        """The SQL condition that a row is of the shops that are looked at."""
        return "1 = 1" if self.shops is None else f"{column} IN ({sql_list(self.shops)})"


def _set_aside(at: _At) -> Iterator[Finding]:
    rows = at.query(
        "SELECT q.shop_id, q.shop_key, b.batch_id, b.rows, q.attempts, q.error FROM (SELECT s.shop_id, "
        f"s.shop_key, f.batch_id, f.attempts, f.error {FROM_SET_ASIDE} AND {at.of_shops()}) q "
        "JOIN import_batch b ON b.batch_id = q.batch_id "
        "WHERE b.rows > 0 ORDER BY q.shop_id, b.batch_id"
    )
    for row in rows:
        yield Finding(
            SET_ASIDE,
            row["shop_id"],
            f"batch {row['batch_id']} of {row['shop_id']} is set aside after {row['attempts']} attempts "
            f"({row['error']}); its {row['rows']} rows are in no answer. Report the error. When its cause "
            f"is fixed, run `{command('jobs rollup')}`, which tries the batch again",
            row["shop_key"],
        )


def _verify_failed(at: _At) -> Iterator[Finding]:
    differing = list(
        at.query(
            "SELECT s.shop_id, s.shop_key, e.differing_rows FROM shop s JOIN edition e "
            f"ON e.edition = s.edition WHERE e.differing_rows > 0 AND {at.of_shops()} ORDER BY s.shop_id"
        )
    )
    for row in differing:
        yield Finding(
            VERIFY_FAILED,
            row["shop_id"],
            f"the last verify failed: {row['differing_rows']} stored rows of {row['shop_id']} differ from "
            f"its raw rows. Run `{command('jobs rebuild')}`, then `{command('jobs verify')}`, and report "
            "what happened before",
            row["shop_key"],
        )
    last = _last_run(at, "verify") if at.shops is None else None
    if last and last["state"] == FAILED and not differing:
        message = (
            f"the last verify failed: {last['error']}. `{command('jobs verify')}` tries it again"
        )
        yield Finding(VERIFY_FAILED, "", message)


def _nightly_failed(at: _At) -> Iterator[Finding]:
    """A whole rollup makes up for it."""
    nightly = _last_run(at, "nightly")
    if not nightly or nightly["state"] != FAILED:
        return
    others = [run for job in (REFRESH, "rollup") if (run := _last_run(at, job))]
    whole = [run["started_at"] for run in others if run["state"] == DONE and not run["arguments"]]
    if max(whole, default=0) < nightly["started_at"]:
        message = (
            f"the last nightly rollup failed: {nightly['error']}. Mend the reason, then run "
            f"`{command('jobs rollup')}`"
        )
        yield Finding(NIGHTLY_FAILED, "", message)


def _no_scheduler(at: _At) -> Iterator[Finding]:
    """Rollups may be started by hand: a warehouse that no scheduler ever worked for needs none, unless a
    pull is due."""
    if at.schedulers:
        last = at.schedulers[0]
        if last["seen_at"] < at.now - ALIVE_MICROS and last["due_at"] < at.now:
            yield Finding(
                NO_SCHEDULER,
                "",
                f"no scheduler has been seen for {_span(at.now - last['seen_at'])}, and its jobs are due. "
                f"Start it: `{command('jobs scheduler')}`; it makes up for what it missed",
            )
        return
    overdue = [
        pull
        for pull in at.query(_SCHEDULED_PULLS)
        if _was_due(pull["schedule"], max(pull["set_up_at"], pull["ran_at"]), at.now - ALIVE_MICROS)
    ]
    if overdue:
        yield Finding(
            NO_SCHEDULER,
            "",
            f"the pull {overdue[0]['name']} is due, and no scheduler has ever been seen that would run it. "
            f"Start one: `{command('jobs scheduler')}`",
        )


def _was_due(schedule: str, since: int, before: int) -> bool:
    # Imported here: it takes a tenth of a second, and this is a rare case.
    from warehouse.domain.cron import cron

    due = cron(schedule).get_next_fire_time(None, from_micros(since))
    return due is not None and due < from_micros(before)


def _backlog(at: _At) -> Iterator[Finding]:
    """Batches that are set aside have a condition of their own; those whose rows were all taken back have
    nothing that waits."""
    rows = at.query(
        "SELECT s.shop_id, s.shop_key, MIN(p.imported_at) AS oldest, CAST(SUM(p.rows) AS BIGINT) AS rows "
        f"{from_waiting(at.of_shops())} JOIN shop s ON s.shop_key = p.shop_key "
        f"WHERE p.retry_at < {NEVER} AND p.rows > 0 GROUP BY s.shop_id, s.shop_key "
        f"HAVING MIN(p.imported_at) < {at.now - MISSED_REFRESHES * at.refresh} "
        "ORDER BY oldest, s.shop_id"
    )
    for row in rows:
        yield Finding(
            BACKLOG,
            row["shop_id"],
            f"{row['rows']} rows of {row['shop_id']} are not in the figures, the oldest for "
            f"{_span(at.now - row['oldest'])}. `{command('jobs rollup')}` computes them; a running scheduler "
            "does so by itself",
            row["shop_key"],
        )


def _landing_waits(at: _At) -> Iterator[Finding]:
    for landing in at.landing:
        if 0 < landing.since < at.now - _LANDING_MICROS:
            files = "file waits" if landing.files == 1 else "files wait"
            yield Finding(
                LANDING_WAITS,
                "",
                f"{landing.files} landed {files} in {landing.folder}, the oldest for "
                f"{_span(at.now - landing.since)}. `{command('jobs landing')}` imports them; a running "
                "scheduler does so by itself",
            )


def _landing_failed(at: _At) -> Iterator[Finding]:
    """A run whose process was killed is tried again by itself, and is given up after some tries. A host's
    run tells of its own folder alone."""
    runs = list(
        at.query(
            "SELECT owner, state, error FROM job_run WHERE job = 'landing' ORDER BY run_id DESC "
            f"LIMIT {_LANDING_RUNS}"
        )
    )
    for landing in at.landing:
        of_host = (run for run in runs if machine_of(run["owner"]) in landing.machines)
        last = next(of_host, None)
        if landing.files and last and last["state"] == FAILED:
            message = (
                f"the last import of landed files failed: {last['error']}; {landing.files} wait in "
                f"{landing.folder}. `{command('jobs run landing')}` tries them again and says more"
            )
            yield Finding(LANDING_FAILED, "", message)


def _of_hosts(condition: str) -> Callable[["_At"], Iterator[Finding]]:
    """A condition that only a process of the host sees (`jobs/scheduler/host_findings.py`)."""

    def check(at: _At) -> Iterator[Finding]:
        for landing in at.landing:
            for name, message in landing.findings:
                if name == condition:
                    yield Finding(condition, "", message)

    return check


def _no_collector(at: _At) -> Iterator[Finding]:
    """While there are write keys, somebody may send by them."""
    rows = at.query(
        "SELECT host, seen_at FROM collector "
        f"WHERE EXISTS (SELECT 1 FROM write_key WHERE revoked_at > {at.now}) ORDER BY seen_at DESC"
    )
    for row in [*rows][:1]:
        if row["seen_at"] < at.now - ALIVE_MICROS:
            yield Finding(
                NO_COLLECTOR,
                "",
                f"no collector has been seen for {_span(at.now - row['seen_at'])}, the last one on "
                f"{row['host']}; what pages send meanwhile is lost. Start it: `{command('web collect')}`. "
                "Where no page sends events any more, revoke the write keys: "
                f"`{command('web write-keys revoke')} KEY`",
            )


def _no_backup(at: _At) -> Iterator[Finding]:
    """Where backups are rarer than daily, one is missed a day after it was due."""
    schedules = [job for one in at.schedulers for job in json.loads(one["schedule"])]
    crons = [job["cron"] for job in schedules if job["job"] == BACKUP]
    if not crons:
        return
    (run,) = at.query(
        f"SELECT MAX(CASE WHEN state = '{DONE}' THEN ended_at END) AS checked_at, "
        f"MIN(started_at) AS first_at FROM job_run WHERE job = '{BACKUP}'"
    )
    # Before the first one that was checked: since they are scheduled, or tried.
    started = [one["started_at"] for one in at.schedulers]
    since = run["checked_at"] or min(started + [run["first_at"]] * bool(run["first_at"]))
    is_old = since < at.now - _NO_BACKUP_MICROS
    if is_old and _was_due(crons[0], since, at.now - MICROS_PER_DAY):
        yield Finding(
            NO_BACKUP,
            "",
            f"no backup was checked for {_span(at.now - since)}, and they are scheduled. "
            f"`{command('jobs backup')}` takes one, or says why it cannot",
        )


def _no_events(at: _At) -> Iterator[Finding]:
    today = at.now // MICROS_PER_DAY
    rows = at.query(
        "SELECT q.shop_id, q.shop_key, q.last_day FROM (SELECT s.shop_id, s.shop_key, s.edition, "
        "(SELECT MAX(f.day) FROM daily_funnel f WHERE f.edition = s.edition AND f.views > 0) AS last_day "
        f"FROM shop s WHERE s.edition <> 0 AND {at.of_shops()}) q "
        # Two whole days, in whatever time zone.
        f"WHERE q.last_day BETWEEN {today - _CLOSED_MICROS // MICROS_PER_DAY} AND {today - 4} "
        "AND (SELECT COUNT(DISTINCT f.day) FROM daily_funnel f WHERE f.edition = q.edition "
        f"AND f.day > q.last_day - {_OF_DAYS} AND f.day <= q.last_day AND f.views > 0) "
        f">= {_ORDER_DAYS} ORDER BY q.last_day, q.shop_id"
    )
    for row in rows:
        yield Finding(
            NO_EVENTS,
            row["shop_id"],
            f"{row['shop_id']} has views of forms on most days, and none since "
            f"{day_date(row['last_day'])}. See whether its pages still have the line that Set up shows, "
            "and whether their events come in",
            row["shop_key"],
        )


def _no_orders(at: _At) -> Iterator[Finding]:
    rows = at.query(
        "SELECT q.shop_id, q.shop_key, q.last_order_at FROM (SELECT s.shop_id, s.shop_key, s.edition, "
        "(SELECT MAX(o.created_at) FROM fact_order o WHERE o.edition = s.edition) AS last_order_at, "
        "(SELECT MAX(a.day) FROM daily_attribution a WHERE a.edition = s.edition AND a.orders > 0) "
        f"AS last_day FROM shop s WHERE s.edition <> 0 AND {at.of_shops()}) q "
        f"WHERE q.last_order_at >= {at.now - _CLOSED_MICROS} "
        f"AND q.last_order_at < {at.now - _NO_ORDERS_MICROS} "
        "AND (SELECT COUNT(DISTINCT a.day) FROM daily_attribution a WHERE a.edition = q.edition "
        f"AND a.day > q.last_day - {_OF_DAYS} AND a.day <= q.last_day AND a.orders > 0) "
        f">= {_ORDER_DAYS} ORDER BY q.last_order_at, q.shop_id"
    )
    for row in rows:
        yield Finding(
            NO_ORDERS,
            row["shop_id"],
            f"{row['shop_id']} has orders on most days, and none since "
            f"{iso_millis(row['last_order_at'])}. See whether they still come in: its pull, its files, "
            "or the program that writes them",
            row["shop_key"],
        )


def _many_rejects(at: _At) -> Iterator[Finding]:
    """The rejected share of the rows that imports of the last 24 hours have read: of all, and on the pages of
    a shop of the files that have its rows alone. Rejects that were mended, retried or dismissed need nobody,
    and neither do those of an import that was undone. A file that is imported again adds no rejects to those
    that it has."""
    shop_key, group = ("0", "") if at.shops is None else ("f.shop_key", "GROUP BY f.shop_key")
    rows = at.query(
        f"SELECT {shop_key} AS shop_key, CAST(COALESCE(SUM(f.rows_read), 0) AS BIGINT) AS read, "
        "CAST(COALESCE(SUM(CASE WHEN f.rows_rejected > 0 AND EXISTS (SELECT 1 FROM reject r "
        "WHERE r.file = f.file AND r.kind = f.kind) THEN f.rows_rejected ELSE 0 END), 0) AS BIGINT) "
        f"AS rejected FROM import_file f WHERE f.started_at > {at.now - MICROS_PER_DAY} "
        f"AND NOT {imports.IS_WITHDRAWN} AND {at.of_shops('f.shop_key')} {group}"
    )
    for row in rows:
        if row["rejected"] * 100 > row["read"] * _MAX_REJECTED_PERCENT:
            percent = 100 * row["rejected"] / row["read"]
            yield Finding(
                MANY_REJECTS,
                "",
                f"{row['rejected']} of the {row['read']} rows that were imported within 24 hours were "
                f"rejected ({percent:.1f} %). `{command('jobs rejects --summary')}` says why; mend the "
                f"cause, then `{command('jobs rejects --retry')}`, or `--dismiss`",
                row["shop_key"],
            )


def _unknown_forms(at: _At) -> Iterator[Finding]:
    """Steps from form to form in two indexes, which together have every form with an event."""

    def least(beyond: str = "") -> str:
        own = f"WHERE edition = n.edition {beyond}"
        return (
            f"SELECT MIN(form) FROM (SELECT MIN(form) AS form FROM daily_funnel {own} UNION ALL "
            f"SELECT MIN(form) FROM fact_form_session {own} AND {NO_MILESTONE}) q"
        )

    rows = at.query(
        f"WITH RECURSIVE seen(shop_key, edition, form) AS (SELECT shop_key, edition, ({least()}) "
        f"FROM shop n WHERE edition <> 0 AND {at.of_shops('n.shop_key')} UNION ALL "
        f"SELECT shop_key, edition, ({least('AND form > n.form')}) FROM seen n "
        "WHERE form IS NOT NULL) "
        "SELECT s.shop_id, s.shop_key, COUNT(*) AS forms, MIN(t.text) AS example FROM seen n "
        "JOIN shop s ON s.shop_key = n.shop_key "
        "JOIN dim_text t ON t.edition = n.edition AND t.id = n.form "
        "WHERE NOT EXISTS (SELECT 1 FROM form f WHERE f.form_id = t.text AND f.shop_key = n.shop_key) "
        "GROUP BY s.shop_id, s.shop_key ORDER BY s.shop_id"
    )
    for row in rows:
        forms = "1 form that is" if row["forms"] == 1 else f"{row['forms']} forms that are"
        yield Finding(
            UNKNOWN_FORMS,
            row["shop_id"],
            f"events of {row['shop_id']} name {forms} not known, such as {row['example']}. "
            f"Import the forms: `{command('jobs import forms')} FILE`",
            row["shop_key"],
        )


def _collect_limit(at: _At) -> Iterator[Finding]:
    """Of today and yesterday."""
    rows = at.query(
        "SELECT s.shop_id, s.shop_key, u.day, u.calls FROM uncollected u "
        f"JOIN shop s ON s.shop_key = u.shop_key WHERE u.reason = '{TOO_MANY_BYTES}' "
        f"AND u.day >= {at.now // MICROS_PER_DAY - 1} AND {at.of_shops()} "
        "ORDER BY u.calls DESC, s.shop_id"
    )
    for row in rows:
        yield Finding(
            COLLECT_LIMIT,
            row["shop_id"],
            f"the collector refused {row['calls']} events of {row['shop_id']} on {day_date(row['day'])}, "
            "beyond COLLECT_MB_PER_SHOP. See who sends them: replace a write key that strangers use "
            f"(`{command('web write-keys revoke')} KEY`), or raise the setting",
            row["shop_key"],
        )


def _rows_limit(at: _At) -> Iterator[Finding]:
    rows = at.query(
        "SELECT s.shop_id, d.name FROM dropped_file d JOIN shop s ON s.shop_key = d.shop_key "
        f"WHERE d.state = '{POSTPONED}' ORDER BY s.shop_id"
    )
    for row in rows:
        yield Finding(
            ROWS_LIMIT,
            row["shop_id"],
            f"{row['shop_id']} dropped a file, {row['name']!a}, with which it would import more rows today "
            "than ROWS_PER_SHOP_DAY. It is imported tomorrow. If it has so many rows, raise the setting",
        )


def _pull_failed(at: _At) -> Iterator[Finding]:
    pulls = at.query(
        "SELECT p.name, p.source, p.status, p.message, p.shop_key, COALESCE(r.run_id, 0) AS run_id "
        "FROM pull p LEFT JOIN job_run r ON r.state = 'running' AND r.started_at > p.set_up_at "
        "AND r.run_id = (SELECT MAX(run_id) FROM job_run WHERE job = 'pull:' || p.name) "
        f"WHERE {at.of_shops('p.shop_key')} ORDER BY p.name"
    )
    for pull in pulls:
        run = _run(at, f"run_id = {pull['run_id']}") if pull["run_id"] else None
        killed = run["error"] if run and run["state"] == FAILED else ""
        if killed or pull["status"] == ERROR:
            yield Finding(
                PULL_FAILED,
                pull["name"],
                f"the last pull {pull['name']} failed: {killed or pull['message']}. Mend the reason; "
                f"`{command('jobs pull')} {pull['source']} --name {pull['name']}` tries it again",
                pull["shop_key"],
            )


def _last_run(at: _At, job: str) -> Row | None:
    return _run(at, f"run_id = (SELECT MAX(run_id) FROM job_run WHERE job = '{job}')")


def _run(at: _At, which: str) -> Row | None:
    """A run that is on record. One whose process ended before it was done has failed."""
    for row in at.query(f"SELECT * FROM job_run WHERE {which}"):
        run = job_runs.at(dict(row), at.now)
        if run["state"] == DIED:
            run |= {"state": FAILED, "error": "its process ended before it was done"}
        return run
    return None


def _span(micros: int) -> str:
    """A span of time for people: `12 minutes`, `3 hours`, `5 days`."""
    minutes = micros // _MINUTE
    if minutes < 120:
        return f"{minutes} minutes"
    return f"{minutes // 60} hours" if minutes < 48 * 60 else f"{minutes // (24 * 60)} days"


# By name, the gravest first.
_CHECKS: Final[dict[str, Callable[[_At], Iterator[Finding]]]] = {
    SET_ASIDE: _set_aside,
    VERIFY_FAILED: _verify_failed,
    NIGHTLY_FAILED: _nightly_failed,
    NO_SCHEDULER: _no_scheduler,
    BACKLOG: _backlog,
    NO_COLLECTOR: _no_collector,
    DISK_LOW: _of_hosts(DISK_LOW),
    LOG_KEPT: _of_hosts(LOG_KEPT),
    NO_BACKUP: _no_backup,
    LANDING_WAITS: _landing_waits,
    LANDING_FAILED: _landing_failed,
    FAILED_FILES: _of_hosts(FAILED_FILES),
    LEFT_ALONE: _of_hosts(LEFT_ALONE),
    PULL_FAILED: _pull_failed,
    NO_EVENTS: _no_events,
    NO_ORDERS: _no_orders,
    MANY_REJECTS: _many_rejects,
    UNKNOWN_FORMS: _unknown_forms,
    COLLECT_LIMIT: _collect_limit,
    ROWS_LIMIT: _rows_limit,
}

OF_SHOPS: Final = (
    SET_ASIDE,
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

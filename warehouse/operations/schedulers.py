"""The schedulers that work for the warehouse, as they record themselves: their schedule, their last
heartbeat, and what lies in their landing folder. Each is a row of the table `scheduler`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Connection, text

from warehouse.connections.arrow import ArrowConnection, names
from warehouse.domain.time import CLOCK_SKEW, MICROS_PER_DAY, MICROS_PER_SECOND, NEVER, to_micros
from warehouse.operations.process_id import is_here, machine_of, this_machine
from warehouse.tables import scheduler
from warehouse.tables.base import column_names

ALIVE_MICROS: Final = 600 * MICROS_PER_SECOND
"""A scheduler of which nothing was seen for so long is missing."""

REFRESH: Final = "refresh"
BACKUP: Final = "backup"

INTERVAL_ANCHOR: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""Any instant. Intervals of a schedule are counted from it, so that others can tell the next times."""

_LATEST: Final = text(
    "SELECT schedule FROM scheduler WHERE seen_at BETWEEN :first AND :last ORDER BY seen_at DESC LIMIT 1"
)


_AS_JSON: Final = ("schedule", "host_findings")


@dataclass(frozen=True)
class SchedulerRecord:
    """One scheduler."""

    owner: str
    started_at: int
    seen_at: int
    # When the next job is due.
    due_at: int
    # A row for each job: `job`, `command`, `when`, and `every_seconds` or `cron`.
    schedule: list[dict[str, Any]]
    landing_folder: str
    landed_files: int
    # When the oldest file landed that waits in its landing folder, 0 without one.
    landed_since: int
    # The `findings` of its `Landing`.
    host_findings: Sequence[Sequence[str]] = ()


@dataclass(frozen=True)
class Landing:
    """A landing folder."""

    folder: str
    files: int
    # When the oldest of its files landed that nothing imports, 0 without one.
    since: int
    # The alerts of the host: a condition and a message each.
    findings: Sequence[Sequence[str]] = ()
    # The machines that see it (see `process_id`), by default this one.
    machines: frozenset[str] = field(default_factory=lambda: frozenset([this_machine()]))


def landings(
    schedulers: Iterable[Mapping[str, Any]], now: int, own: Landing | None
) -> list[Landing]:
    """The landing folders, that with the newest file first: as the caller sees its own, and as the schedulers
    (rows) that are alive saw theirs last."""
    seen = [own] if own else []
    for row in schedulers:
        one = Landing(
            row["landing_folder"],
            row["landed_files"],
            row["landed_since"],
            json.loads(row["host_findings"] or "[]"),
            frozenset([machine_of(row["owner"])]),
        )
        is_own = own and own.folder == one.folder and is_here(row["owner"])
        if row["seen_at"] >= now - ALIVE_MICROS and not is_own:
            seen.append(one)
    # Hosts may share a folder, or have folders of the same path: the one with the oldest file counts.
    newest_first = sorted(seen, key=lambda one: -(one.since or NEVER))
    by_folder: dict[str, Landing] = {}
    for one in newest_first:
        before = by_folder.get(one.folder, one)
        by_folder[one.folder] = replace(one, machines=one.machines | before.machines)
    return list(by_folder.values())


def record_heartbeat(connection: ArrowConnection, record: SchedulerRecord) -> None:
    """Write that a scheduler is alive; forget those that were not seen for a day. Commits."""
    columns = column_names(scheduler)
    row = asdict(record) | {name: json.dumps(getattr(record, name)) for name in _AS_JSON}
    connection.execute(
        f"INSERT INTO scheduler ({names(columns)}) "
        f"VALUES ({', '.join(f'${number}' for number, _ in enumerate(columns, 1))}) "
        "ON CONFLICT (owner) DO UPDATE SET "
        f"{', '.join(f'{name} = excluded.{name}' for name in columns[1:])}",
        *(row[name] for name in columns),
    )
    connection.execute("DELETE FROM scheduler WHERE seen_at < $1", record.seen_at - MICROS_PER_DAY)
    connection.commit()


def list_schedulers(connection: ArrowConnection) -> list[SchedulerRecord]:
    """The schedulers on record, the one that was seen last first. Commits."""
    rows = connection.table("SELECT * FROM scheduler ORDER BY seen_at DESC").to_pylist()
    connection.commit()
    return [
        SchedulerRecord(**row | {name: json.loads(row[name] or "[]") for name in _AS_JSON})
        for row in rows
    ]


def alive(schedulers: Sequence[SchedulerRecord], now: int) -> list[SchedulerRecord]:
    return [one for one in schedulers if now - ALIVE_MICROS <= one.seen_at <= now + CLOCK_SKEW]


def next_refresh_at(connection: Connection, now: int) -> int:
    """The instant at which the next refresh begins, by the scheduler that was seen last; 0 where none is
    alive."""
    alive_times = {"first": now - ALIVE_MICROS, "last": now + CLOCK_SKEW}
    stored = connection.scalar(_LATEST, alive_times)
    for job in json.loads(stored or "[]"):
        if job["job"] == REFRESH and (interval := job["every_seconds"] * MICROS_PER_SECOND):
            since_last = (now - to_micros(INTERVAL_ANCHOR)) % interval
            return now + (interval - since_last) % interval
    return 0

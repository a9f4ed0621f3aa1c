"""Job runs: one row for every run of a job.

A run updates its row regularly (`seen_at`). It has died, and is shown so, if its process has ended, or has
not updated the row for as long as a lease lasts, or did so by a clock that was ahead.

The row of an exclusive run is the lease of its job: while it lives, no other begins, on any machine. Instants
are the database server's, `connection.now_micros()`: the clocks of hosts differ.
"""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import CLOCK_SKEW, MICROS_PER_DAY
from warehouse.operations.process_id import LEASE_MICROS, display_name, is_dead, new_owner

RUNNING: Final = "running"
DONE: Final = "done"
FAILED: Final = "failed"
# Ended by a signal.
STOPPED: Final = "stopped"
DIED: Final = "died"

TASK: Final = "task@"
"""The job of a worker's part of a rollup is this and the name of its host."""

_MAX_LENGTH: Final = 500
# Hosts that have done no task for so long are not shown: containers get a new name at each start.
_TASKS_SHOWN: Final = MICROS_PER_DAY


@dataclass
class Record:
    """A run while it lasts. `owner` holds its leases of editions; `seconds`: by phase."""

    job: str
    arguments: str
    is_exclusive: bool = False
    owner: str = field(default_factory=new_owner)
    run_id: int = 0
    shops: set[int] = field(default_factory=set)
    batches: int = 0
    rows: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    error: str = ""


_EXCLUSIVE: Final = f"job = $1 AND state = '{RUNNING}' AND is_exclusive = 1"


def begin(connection: ArrowConnection, record: Record, now: int) -> bool:
    """Insert the row of a run that starts; sets its `run_id`. Commits. False, without a row, if the run is
    exclusive and another one of its job lives."""
    if record.is_exclusive:
        # An exclusive run whose process has died has ended.
        owner = holder(connection, record.job)
        connection.execute(
            f"UPDATE job_run SET state = '{DIED}', ended_at = seen_at WHERE {_EXCLUSIVE} "
            "AND (owner = $2 OR seen_at < $3 OR seen_at > $4)",
            *(record.job, owner if is_dead(owner) else "", now - LEASE_MICROS, now + CLOCK_SKEW),
        )
    run_id = connection.value(
        "INSERT INTO job_run (job, arguments, owner, started_at, seen_at, state, is_exclusive) "
        "VALUES ($1, $2, $3, $4, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING run_id",
        record.job,
        record.arguments[:_MAX_LENGTH],
        record.owner,
        now,
        RUNNING,
        int(record.is_exclusive),
    )
    connection.commit()
    record.run_id = run_id or 0
    return run_id is not None


def holder(connection: ArrowConnection, job: str) -> str:
    """The owner of the exclusive run of a job, "" if there is none. Commits."""
    owner = connection.value(f"SELECT owner FROM job_run WHERE {_EXCLUSIVE}", job) or ""
    connection.commit()
    return str(owner)


def update(connection: ArrowConnection, record: Record, now: int, state: str = RUNNING) -> None:
    """Update the row of a run, which has ended unless it is RUNNING. Commits. One that others took for dead
    does not live again."""
    still = f"AND state = '{RUNNING}'" if state == RUNNING else ""
    connection.execute(
        "UPDATE job_run SET seen_at = $1, ended_at = $2, state = $3, shops = $4, batches = $5, "
        f"rows = $6, phases = $7, error = $8 WHERE run_id = $9 {still}",
        now,
        0 if state == RUNNING else now,
        state,
        len(record.shops),
        record.batches,
        record.rows,
        json.dumps({name: round(time, 3) for name, time in record.seconds.copy().items()}),
        record.error[:_MAX_LENGTH],
        record.run_id,
    )
    connection.commit()


def work_at(connection: ArrowConnection, record: Record, item: str) -> None:
    """Record in a run's row, in place of its arguments, the item at which it works now. Commits."""
    record.arguments = item[:_MAX_LENGTH]
    connection.execute(
        "UPDATE job_run SET arguments = $1 WHERE run_id = $2", record.arguments, record.run_id
    )
    connection.commit()


def ended_at(connection: ArrowConnection, record: Record) -> Counter[str]:
    """The number of earlier runs of the job that ended, however they did, while they worked at an item.
    Commits."""
    rows = connection.table(
        "SELECT arguments, COUNT(*) AS runs FROM job_run WHERE job = $1 AND run_id < $2 "
        "AND arguments <> '' GROUP BY arguments",
        record.job,
        record.run_id,
    ).to_pylist()
    connection.commit()
    return Counter({row["arguments"]: int(row["runs"]) for row in rows})


def forget_work(connection: ArrowConnection, record: Record, item: str) -> None:
    """Forget that earlier runs of the job ended at this item. Commits."""
    connection.execute(
        "UPDATE job_run SET arguments = '' WHERE job = $1 AND arguments = $2", record.job, item
    )
    connection.commit()


LAST_OF_EACH: Final = (
    "SELECT * FROM job_run WHERE run_id IN (SELECT MAX(run_id) FROM job_run GROUP BY job) "
    "ORDER BY job"
)
"""The last run of each job, as it is stored."""


def last_of_each(connection: ArrowConnection, now: int) -> list[dict[str, Any]]:
    """The last run of each job, by job (see `at`); of tasks, the runs of the last day. Commits."""
    rows = connection.table(LAST_OF_EACH).to_pylist()
    connection.commit()
    return [
        at(row, now)
        for row in rows
        if not row["job"].startswith(TASK) or row["started_at"] > now - _TASKS_SHOWN
    ]


def at(row: dict[str, Any], now: int) -> dict[str, Any]:
    """The columns of a stored run, with `owner` as `host:pid`, `phases` as a dict, and the state at
    `now`."""
    if row["state"] == RUNNING and (
        is_dead(row["owner"]) or not now - LEASE_MICROS <= row["seen_at"] <= now + CLOCK_SKEW
    ):
        row["state"], row["ended_at"] = DIED, row["seen_at"]
    row["owner"], row["phases"] = display_name(row["owner"]), json.loads(row["phases"] or "{}")
    return row


def is_running(connection: ArrowConnection, run_id: int, now: int) -> bool:
    """Whether a run lasts, as it is shown at `now`. Commits."""
    rows = connection.table("SELECT * FROM job_run WHERE run_id = $1", run_id).to_pylist()
    connection.commit()
    return any(at(row, now)["state"] == RUNNING for row in rows)


def last_run(connection: ArrowConnection) -> int:
    """The number of the newest run of any job, 0 before the first."""
    return int(connection.value("SELECT COALESCE(MAX(run_id), 0) FROM job_run"))


def sums_of_tasks(connection: ArrowConnection, arguments: str, after: int) -> tuple[int, int]:
    """The rows and the batches of the tasks with these arguments that began after a run."""
    (sums,) = connection.table(
        "SELECT CAST(COALESCE(SUM(rows), 0) AS BIGINT) AS rows, "
        "CAST(COALESCE(SUM(batches), 0) AS BIGINT) AS batches FROM job_run "
        f"WHERE run_id > $1 AND arguments = $2 AND job LIKE '{TASK}%'",
        after,
        arguments,
    ).to_pylist()
    return sums["rows"], sums["batches"]


def purge(connection: ArrowConnection, now: int, days: int) -> int:
    """Delete the runs that started more than so many days ago, but for those that go on; returns how many.
    Commits."""
    deleted = connection.changed(
        f"DELETE FROM job_run WHERE started_at < $1 AND (state <> '{RUNNING}' OR seen_at < $1) "
        "RETURNING run_id",
        now - days * MICROS_PER_DAY,
    )
    connection.commit()
    return deleted

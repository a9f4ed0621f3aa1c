"""The record of what ran: one row for every run of a job.

A run says that it lives now and then; one whose process is gone, or has not said so for as long as a
lease lasts, shows as `died`.
"""

import json
from dataclasses import dataclass, field
from typing import Any, Final

from warehouse.bulk import Bulk
from warehouse.days import MICROS_PER_DAY
from warehouse.owners import LEASE_MICROS, is_dead, me, shown

RUNNING: Final = "running"
DONE: Final = "done"
FAILED: Final = "failed"
# Told to end, and ended.
STOPPED: Final = "stopped"
DIED: Final = "died"

_LONGEST: Final = 500


@dataclass
class Record:
    """A run in the making. `seconds`: by phase."""

    job: str
    words: str
    run_id: int = 0
    shops: set[int] = field(default_factory=set)
    batches: int = 0
    rows: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    error: str = ""


def begin(bulk: Bulk, record: Record, now: int) -> None:
    """Write that a run has begun; sets its `run_id`. Commits."""
    record.run_id = bulk.value(
        "INSERT INTO run (job, words, owner, started_at, seen_at, state) "
        "VALUES ($1, $2, $3, $4, $4, $5) RETURNING run_id",
        record.job,
        record.words[:_LONGEST],
        me(),
        now,
        RUNNING,
    )
    bulk.commit()


def update(bulk: Bulk, record: Record, now: int, state: str = RUNNING) -> None:
    """Write how far a run is, or that it has ended. Commits."""
    bulk.execute(
        "UPDATE run SET seen_at = $1, ended_at = $2, state = $3, shops = $4, batches = $5, "
        "rows = $6, phases = $7, error = $8 WHERE run_id = $9",
        now,
        0 if state == RUNNING else now,
        state,
        len(record.shops),
        record.batches,
        record.rows,
        json.dumps({name: round(time, 3) for name, time in record.seconds.copy().items()}),
        record.error[:_LONGEST],
        record.run_id,
    )
    bulk.commit()


def last_of_each(bulk: Bulk, now: int) -> list[dict[str, Any]]:
    """The last run of each job, by job: the columns of `run`, with `owner` for people, `phases` as a
    dict, and the state as it is at `now`. Commits."""
    rows = bulk.table(
        "SELECT * FROM run WHERE run_id IN (SELECT MAX(run_id) FROM run GROUP BY job) ORDER BY job"
    ).to_pylist()
    bulk.commit()
    for row in rows:
        if row["state"] == RUNNING and (
            is_dead(row["owner"]) or row["seen_at"] < now - LEASE_MICROS
        ):
            row["state"], row["ended_at"] = DIED, row["seen_at"]
        row["owner"], row["phases"] = shown(row["owner"]), json.loads(row["phases"] or "{}")
    return rows


def purge(bulk: Bulk, now: int, days: int) -> int:
    """Delete the records of runs that began more than so many days ago; how many. Commits."""
    gone = bulk.changed(
        "DELETE FROM run WHERE started_at < $1 RETURNING run_id", now - days * MICROS_PER_DAY
    )
    bulk.commit()
    return gone

"""Tasks: what a page or a command asks a job to do for a shop, with its attempts, its lease and its result.

A shop has one row for each subject: the last thing that it asked about it. A page writes it and reads it; a
job takes it, and ends it. The lease of a task is the run that took it, for as long as that run lives: nobody
else takes it meanwhile, and once the run has ended, however it did, the task is free again.
"""

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, select, text

from warehouse.connections.arrow import ArrowConnection
from warehouse.editions.pending_batches import sql_list
from warehouse.operations import job_runs
from warehouse.tables import task

REJECTS: Final = "rejects"
FILE: Final = "file"
PERSONS: Final = "persons"
IMPORT_NUMBERED: Final = "import {}"

# Rejects are tried again. A dropped file is looked at, put where imports look, and imported there. Raw rows
# of an import go, or of all persons whom a shop has asked to forget.
RETRY: Final = "retry"
LOOK: Final = "look"
LAND: Final = "land"
IMPORT: Final = "import"
UNDO: Final = "undo"
FORGET: Final = "forget"

MAX_ATTEMPTS: Final = 3
"""Runs that may take a task without any progress."""

# It is done, only to be looked at, or waits for another day. Or it is to be done again for those who came
# meanwhile.
_CAN_GO: Final = (
    f"(task.ended_at <> 0 OR task.kind IN ('{LOOK}', '{FORGET}') "
    f"OR task.kind = '{LAND}' AND task.due_at > :now)"
)
_ASK: Final = (
    "INSERT INTO task (shop_key, subject, kind, item, payload, asked_at, due_at, result) "
    "VALUES (:shop_key, :subject, :kind, :item, :payload, :now, :now, '{}') "
    "ON CONFLICT (shop_key, subject) DO UPDATE SET kind = excluded.kind, item = excluded.item, "
    "payload = excluded.payload, asked_at = excluded.asked_at, due_at = excluded.due_at, attempts = 0, "
    f"run_id = 0, rows = 0, ended_at = 0, result = '{{}}' WHERE {_CAN_GO} RETURNING shop_key"
)
_ASKED: Final = ("shop_key", "subject", "kind", "item", "payload", "now")
_ASK_OF_JOB: Final = re.sub(r":(\w+)", lambda name: f"${_ASKED.index(name[1]) + 1}", _ASK)
_AS_FOUND: Final = "WHERE shop_key = :shop_key AND subject = :subject AND item = :found"
_ASK_NEXT: Final = text(
    "UPDATE task SET kind = :kind, item = :item, due_at = :due_at, attempts = 0, run_id = 0, ended_at = 0 "
    f"{_AS_FOUND} AND kind = :did AND ended_at <> 0 RETURNING shop_key"
)
_DISCARD: Final = text(f"DELETE FROM task {_AS_FOUND} AND {_CAN_GO} RETURNING shop_key")
GIVEN_UP: Final = f"t.kind IN ('{UNDO}', '{FORGET}') AND t.ended_at <> 0 AND t.result <> '{{}}'"
"""The SQL condition that a task `t` was given up though rows are to go."""

_LISTED: Final = (
    "SELECT s.shop_id, t.kind, t.asked_at, t.attempts, t.result FROM task t "
    "LEFT JOIN shop s ON s.shop_key = t.shop_key WHERE t.ended_at = 0 "
    f"OR {GIVEN_UP} "
    "ORDER BY t.asked_at, t.shop_key, t.subject"
)


@dataclass(frozen=True)
class Task:
    """A task, with the columns of its row; `result`: what came of it, or the `reason` why nothing did."""

    shop_key: int
    subject: str
    kind: str
    item: str
    payload: str
    asked_at: int
    due_at: int
    attempts: int
    run_id: int
    rows: int
    ended_at: int
    result: dict[str, Any]


def find(connection: Connection, shop_key: int, subject: str) -> Task | None:
    """The last task of a shop about a subject."""
    own = select(task).where(task.c.shop_key == shop_key, task.c.subject == subject)
    row = connection.execute(own).mappings().first()
    return None if row is None else _task(dict(row))


def ask(
    connection: Connection,
    shop_key: int,
    subject: str,
    kind: str,
    now: int,
    item: str = "",
    payload: str = "",
) -> bool:
    """Ask for a task in place of the shop's last one about the subject. False while that one is worked at."""
    row = {"shop_key": shop_key, "subject": subject, "kind": kind, "item": item, "now": now}
    return bool(connection.execute(text(_ASK), row | {"payload": payload}).all())


def ask_of_job(
    connection: ArrowConnection, shop_key: int, subject: str, kind: str, item: str = ""
) -> None:
    """The same in a command. The caller commits."""
    connection.changed(_ASK_OF_JOB, shop_key, subject, kind, item, "", connection.now_micros())


def ask_next(connection: Connection, done: Task, kind: str, due_at: int, item: str) -> bool:
    """Ask for what comes after a task that has ended, whose result is kept. False if it has changed since it
    was found."""
    row = {"shop_key": done.shop_key, "subject": done.subject, "found": done.item, "did": done.kind}
    row |= {"kind": kind, "due_at": due_at, "item": item}
    return bool(connection.execute(_ASK_NEXT, row).all())


def discard(connection: Connection, found: Task, now: int) -> bool:
    """Forget a task. False if it is worked at, or another has taken its place."""
    row = {"shop_key": found.shop_key, "subject": found.subject, "found": found.item, "now": now}
    return bool(connection.execute(_DISCARD, row).all())


def are_waiting(connection: ArrowConnection, kinds: Collection[str]) -> bool:
    """Whether a task of these kinds is due. Commits."""
    due = connection.value(f"SELECT 1 FROM task WHERE {_due(kinds)}", connection.now_micros())
    connection.commit()
    return bool(due)


def take(connection: ArrowConnection, run_id: int, kinds: Collection[str]) -> Task | None:
    """Take the task of the shop that has waited longest, for a run; None where none is due and free.
    Commits."""
    now = connection.now_micros()
    holders = connection.table("SELECT DISTINCT run_id FROM task WHERE ended_at = 0 AND run_id > 0")
    ended = [
        run
        for run in holders.column(0).to_pylist()
        if not job_runs.is_running(connection, run, now)
    ]
    # A transaction of SQLite that has read cannot write once another has written.
    connection.commit()
    taken = connection.table(
        "UPDATE task SET run_id = $2, attempts = attempts + 1 WHERE (shop_key, subject) = ("
        f"SELECT shop_key, subject FROM task t WHERE {_due(kinds)} AND run_id IN ({sql_list([0, *ended])}) "
        # An import may be of several shops.
        "AND (t.shop_key = 0 OR EXISTS (SELECT 1 FROM shop s WHERE s.shop_key = t.shop_key)) "
        f"ORDER BY due_at, shop_key LIMIT 1 {connection.skip_locked}) RETURNING *",
        now,
        run_id,
    ).to_pylist()
    connection.commit()
    return _task(taken[0]) if taken else None


def advance(connection: ArrowConnection, own: Task, payload: str) -> None:
    """Record how far a task has come: others go first from now on. Commits."""
    now = connection.now_micros()
    _update(connection, own, "payload = $4, attempts = 0, due_at = $5", payload, now)


def pass_on(connection: ArrowConnection, own: Task, kind: str) -> None:
    """Leave the rest of a task to those who do this kind. Commits."""
    _update(connection, own, "kind = $4, run_id = 0", kind)


def give_back(connection: ArrowConnection, own: Task) -> None:
    """Count no attempt for a run that was asked to stop. Commits."""
    _update(connection, own, "attempts = attempts - 1")


def end(connection: ArrowConnection, own: Task, result: dict[str, Any]) -> None:
    """Record the result of a task. Commits."""
    now = connection.now_micros()
    _update(connection, own, "ended_at = $4, result = $5", now, json.dumps(result))


def listed(connection: ArrowConnection) -> list[dict[str, Any]]:
    """The tasks that have not ended, and those that were given up though rows are to go, with the `reason`,
    the oldest first. `shop_id` is None for an import of several shops. Commits."""
    rows = connection.table(_LISTED).to_pylist()
    connection.commit()
    return [row | {"reason": json.loads(row.pop("result")).get("reason")} for row in rows]


def _due(kinds: Collection[str]) -> str:
    """The condition that a task is due at the instant $1."""
    return f"kind IN ({', '.join(map(repr, kinds))}) AND ended_at = 0 AND due_at <= $1"


def _update(connection: ArrowConnection, own: Task, values: str, *more: Any) -> None:
    """Update a task, unless it is another run's by now, or another has taken its place. Commits."""
    connection.execute(
        f"UPDATE task SET {values} WHERE shop_key = $1 AND subject = $2 AND run_id = $3 AND ended_at = 0",
        *(own.shop_key, own.subject, own.run_id, *more),
    )
    connection.commit()


def _task(row: dict[str, Any]) -> Task:
    return Task(**row | {"result": json.loads(row["result"])})

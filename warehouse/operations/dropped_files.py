"""Files that shops drop on their Data page: of each shop the last one, from the drop to its import.

    RECEIVED <─> SHOWN ──> LANDED ──> IMPORTED
        │          │ └> POSTPONED ┘│
        └──────────┴───────────────┴─> REFUSED

Its member may have to say first how it is to be read: it is looked at again then.

A page receives the file, and puts it into the landing folder once its member asks for the import. A job
looks at it in between; the landing job imports it. A file that brings more rows than are
left of ROWS_PER_SHOP_DAY is postponed: a job puts it there on the next day. All of them tell it here: nothing
else passes between them but the file.
"""

import json
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, select, text

from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.landing_names import DROPPED
from warehouse.domain.time import MICROS_PER_DAY, MICROS_PER_SECOND
from warehouse.operations import imports
from warehouse.operations.imports import ImportedFile
from warehouse.tables import dropped_file
from warehouse.tables.base import column_names

RECEIVED: Final = "received"
SHOWN: Final = "shown"
POSTPONED: Final = "postponed"
LANDED: Final = "landed"
IMPORTED: Final = "imported"
REFUSED: Final = "refused"

KEPT_MICROS: Final = MICROS_PER_DAY
"""After so long a file that nobody imported is deleted, and its row."""

MISSING_MICROS: Final = 90 * MICROS_PER_SECOND
"""A scheduler that gave no sign of life for so long is not waited for."""

MAX_TRIES: Final = 3
"""Processes that may begin to look at a file: one with which all of them ended is refused."""

_FOR_A_JOB: Final = f"state IN ('{RECEIVED}', '{POSTPONED}')"
# $1: when the day began.
_DUE: Final = f"{_FOR_A_JOB} AND (state <> '{POSTPONED}' OR since < $1)"

_FIND: Final = select(dropped_file).where(dropped_file.c.shop_key == bindparam("shop_key"))
_RECEIVE: Final = text(
    "INSERT INTO dropped_file (shop_key, name, stored, bytes, dropped_at, state, since, told, tries) "
    f"VALUES (:shop_key, :name, :stored, :bytes, :now, '{RECEIVED}', :now, '{{}}', 0) "
    "ON CONFLICT (shop_key) DO UPDATE SET name = excluded.name, stored = excluded.stored, "
    "bytes = excluded.bytes, dropped_at = excluded.dropped_at, state = excluded.state, "
    "since = excluded.since, told = excluded.told, tries = 0 "
    f"WHERE dropped_file.state <> '{LANDED}' RETURNING shop_key"
)
_MOVE: Final = text(
    "UPDATE dropped_file SET state = :state, since = :now WHERE shop_key = :shop_key "
    "AND stored = :stored AND state = :before RETURNING shop_key"
)
_ANSWER: Final = text(
    f"UPDATE dropped_file SET state = '{RECEIVED}', since = :now, stored = :answered, told = '{{}}', "
    f"tries = 0 WHERE shop_key = :shop_key AND stored = :stored AND state = '{SHOWN}' RETURNING shop_key"
)
_ROWS_OF_DAY: Final = text(
    "SELECT COALESCE(SUM(rows_read), 0) FROM import_file WHERE shop_key = :shop_key "
    f"AND started_at >= :day_began AND file LIKE '%/{DROPPED}%'"
)
_SCHEDULER_SEEN: Final = text("SELECT COALESCE(MAX(seen_at), 0) FROM scheduler")
# The newest import of a file, by its name: its folder is the scheduler's own.
_IMPORT: Final = text(
    f"{imports.LISTED} WHERE f.started_at >= :since AND f.file LIKE :path "
    "ORDER BY f.import_id DESC LIMIT 1"
)


@dataclass(frozen=True)
class DroppedFile:
    """`name`: as its owner calls it; `stored`: as it lies in the landing folder. `told`: of a file that is
    refused `reason`; of one that is shown what `jobs/landing/dropped.py` found."""

    shop_key: int
    name: str
    stored: str
    bytes: int
    dropped_at: int
    state: str
    since: int
    told: dict[str, Any]
    tries: int


def find(connection: Connection, shop_key: int) -> DroppedFile | None:
    """The last file of a shop."""
    row = connection.execute(_FIND, {"shop_key": shop_key}).mappings().one_or_none()
    return None if row is None else _dropped(dict(row))


def receive(
    connection: Connection, shop_key: int, name: str, stored: str, size: int, now: int
) -> bool:
    """Record a file in place of the shop's last one. False while that one is being imported."""
    row = {"shop_key": shop_key, "name": name, "stored": stored, "bytes": size, "now": now}
    return connection.execute(_RECEIVE, row).one_or_none() is not None


def move(connection: Connection, file: DroppedFile, state: str, now: int) -> bool:
    """Have a file be in another state. False if it is not as it was found."""
    row = {"shop_key": file.shop_key, "stored": file.stored, "before": file.state}
    moved = connection.execute(_MOVE, row | {"state": state, "now": now})
    return moved.one_or_none() is not None


def answer(connection: Connection, file: DroppedFile, stored: str, now: int) -> bool:
    """Have a file looked at again under another name, which says how it is to be read. False if it is not as
    it was found."""
    row = {"shop_key": file.shop_key, "stored": file.stored, "answered": stored, "now": now}
    return connection.execute(_ANSWER, row).one_or_none() is not None


def discard(connection: Connection, shop_key: int) -> None:
    """Forget the shop's file, unless it is being imported."""
    own = dropped_file.c.shop_key == shop_key
    connection.execute(delete(dropped_file).where(own, dropped_file.c.state != LANDED))


def import_of(connection: Connection, file: DroppedFile, now: int) -> ImportedFile | None:
    """The last import of a file."""
    path = {"since": file.dropped_at, "path": f"%/{file.stored}"}
    row = connection.execute(_IMPORT, path).mappings().one_or_none()
    return None if row is None else imports.imported_file(dict(row), now)


def rows_of_day(connection: Connection, shop_key: int, now: int) -> int:
    """The rows that the shop's files have brought today (UTC), those of undone imports too."""
    values = {"shop_key": shop_key, "day_began": _day_began(now)}
    return int(connection.scalar(_ROWS_OF_DAY, values) or 0)


def scheduler_seen_at(connection: Connection) -> int:
    """When the last sign of life of a scheduler was, 0 without one."""
    return int(connection.scalar(_SCHEDULER_SEEN) or 0)


def are_waiting(connection: ArrowConnection, now: int) -> bool:
    """Whether there is something for a job to do. Commits."""
    waiting = connection.value(f"SELECT COUNT(*) FROM dropped_file WHERE {_DUE}", _day_began(now))
    connection.commit()
    return bool(waiting)


def waiting(connection: ArrowConnection, now: int) -> list[tuple[DroppedFile, str]]:
    """The files that a job has something to do with, and the id of each one's shop: the small ones first.
    Commits."""
    rows = connection.table(
        "SELECT d.*, s.shop_id FROM dropped_file d JOIN shop s ON s.shop_key = d.shop_key "
        f"WHERE {_DUE} ORDER BY d.bytes, d.dropped_at, d.shop_key",
        _day_began(now),
    ).to_pylist()
    connection.commit()
    return [(_dropped(row), row["shop_id"]) for row in rows]


def begin(connection: ArrowConnection, file: DroppedFile) -> None:
    """Record that a process begins to look at a file. Commits."""
    _update(connection, file, "tries = tries + 1")


def tell(
    connection: ArrowConnection,
    file: DroppedFile,
    state: str,
    told: dict[str, Any],
    stored: str,
    now: int,
) -> None:
    """Record what a job has found of a file, unless another one has taken its place. `stored`: the name under
    which it lies there now. Commits."""
    values = "state = $3, since = $4, told = $5, stored = $6"
    _update(connection, file, values, state, now, json.dumps(told), stored)


def landed_was_imported(connection: ArrowConnection, stored: str, error: str, now: int) -> None:
    """Record that a landed file of this name was imported, or why it could not be read. Commits."""
    state = REFUSED if error else IMPORTED
    connection.execute(
        "UPDATE dropped_file SET state = $1, since = $2, "
        "told = CASE WHEN $3 = '' THEN told ELSE $3 END "
        f"WHERE stored = $4 AND state IN ('{SHOWN}', '{POSTPONED}', '{LANDED}')",
        state,
        now,
        json.dumps({"reason": error}) if error else "",
        stored,
    )
    connection.commit()


def purge(connection: ArrowConnection, before: int, imported_before: int) -> None:
    """Forget the files that were dropped before an instant, but those that are being imported. One that was
    imported can be undone for longer, and is forgotten later. Commits."""
    connection.execute(
        f"DELETE FROM dropped_file WHERE state NOT IN ('{LANDED}', '{POSTPONED}') "
        f"AND dropped_at < CASE WHEN state = '{IMPORTED}' THEN $1 ELSE $2 END",
        imported_before,
        before,
    )
    connection.commit()


def _update(connection: ArrowConnection, file: DroppedFile, values: str, *more: Any) -> None:
    connection.execute(
        f"UPDATE dropped_file SET {values} WHERE shop_key = $1 AND stored = $2 AND {_FOR_A_JOB}",
        file.shop_key,
        file.stored,
        *more,
    )
    connection.commit()


def _day_began(now: int) -> int:
    return now - now % MICROS_PER_DAY


def _dropped(row: dict[str, Any]) -> DroppedFile:
    columns = {name: row[name] for name in column_names(dropped_file)}
    return DroppedFile(**columns | {"told": json.loads(row["told"])})

"""Files that shops drop on their Data page: of each shop the last one, from the drop to its import.

A file is a task of its shop (`warehouse/operations/tasks.py`). A page receives the file, and asks for a look
at it; its member may have to say how it is to be read, and it is looked at again. Once its member asks for
the import, a job puts it into the landing folder, where the landing job imports it. One that brings more
rows than are left of ROWS_PER_SHOP_DAY waits for the next day. Nothing else passes between page and jobs but
the file.

The task's `item` is the name under which the file lies in the landing folder, its payload the name that its
owner gave it, and its result what the look tells (`jobs/landing/dropped.py`).
"""

import json
from typing import Final

from sqlalchemy import Connection, text

from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.landing_names import DROPPED
from warehouse.domain.time import MICROS_PER_DAY, MICROS_PER_SECOND
from warehouse.intake import imports
from warehouse.intake.imports import ImportedFile
from warehouse.operations.tasks import FILE, IMPORT, LOOK, Task

KEPT_MICROS: Final = MICROS_PER_DAY
"""After so long a file that nobody imported is deleted, and its task."""

MISSING_MICROS: Final = 90 * MICROS_PER_SECOND
"""A scheduler whose last heartbeat is older than this is not waited for."""

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


def state(file: Task, now: int) -> str:
    """The state of a file, in the word that its page goes by."""
    if file.ended_at:
        done = "shown" if file.kind == LOOK else "imported"
        return "refused" if "reason" in file.result else done
    if file.kind == LOOK:
        return "received"
    return "postponed" if file.due_at > now else "landed"


def import_of(connection: Connection, file: Task, now: int) -> ImportedFile | None:
    """The last import of a file."""
    path = {"since": file.asked_at, "path": f"%/{file.item}"}
    row = connection.execute(_IMPORT, path).mappings().one_or_none()
    return None if row is None else imports.imported_file(dict(row), now)


def day_for(connection: Connection, file: Task, most_rows: int, now: int) -> int:
    """The instant from which a file may be imported: now, or the beginning of the next day (UTC) where the
    shop's files, those of undone imports too, would bring more than so many rows today."""
    day_began = now - now % MICROS_PER_DAY
    rows = connection.scalar(_ROWS_OF_DAY, {"shop_key": file.shop_key, "day_began": day_began})
    has_room = int(rows or 0) + file.result["rows"] <= most_rows
    return now if has_room else day_began + MICROS_PER_DAY


def scheduler_seen_at(connection: Connection) -> int:
    """The instant of the last heartbeat of a scheduler, 0 without one."""
    return int(connection.scalar(_SCHEDULER_SEEN) or 0)


def landed_was_imported(connection: ArrowConnection, stored: str, error: str) -> None:
    """Record that a landed file of this name was imported, or why it could not be read. Commits."""
    connection.execute(
        f"UPDATE task SET kind = '{IMPORT}', ended_at = $1, run_id = 0, "
        "result = CASE WHEN $2 = '' THEN result ELSE $2 END "
        f"WHERE subject = '{FILE}' AND item = $3 AND (kind <> '{LOOK}' OR ended_at <> 0)",
        connection.now_micros(),
        json.dumps({"reason": error}) if error else "",
        stored,
    )
    connection.commit()


def purge(connection: ArrowConnection, before: int, imported_before: int) -> None:
    """Forget the files that were dropped before an instant, but those that are to be imported. One that was
    imported can be undone for longer, and is forgotten later. Commits."""
    connection.execute(
        f"DELETE FROM task WHERE subject = '{FILE}' AND (ended_at <> 0 OR kind = '{LOOK}') "
        f"AND asked_at < CASE WHEN kind = '{IMPORT}' THEN $1 ELSE $2 END",
        imported_before,
        before,
    )
    connection.commit()

"""Imports of files: each import of a file is one row, from its begin to its undoing.

A file that is imported twice is two imports. An import whose process died has the rows that it wrote, and
can be undone like one that is done.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection, select, text

from warehouse import settings
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.landing_names import is_dropped
from warehouse.domain.time import MICROS_PER_DAY
from warehouse.domain.vocabulary import UNDOING, UNDONE
from warehouse.operations import job_runs, tasks
from warehouse.operations.tasks import IMPORT_NUMBERED, UNDO
from warehouse.tables import shop

RUNNING: Final = "running"
DONE: Final = "done"
# Ended by an error before the end of the file.
FAILED: Final = "failed"
# Its process ended. Such an import is stored as running.
DIED: Final = "died"

# Import 0 is what came before the imports that are known.
NO_IMPORT: Final = 0

IS_WITHDRAWN: Final = f"state IN ('{UNDOING}', '{UNDONE}')"
WITHDRAWN: Final = f"SELECT import_id FROM import_file WHERE {IS_WITHDRAWN}"
"""The imports that do not stand. One that is no longer known stands for ever."""

_RUN: Final = "LEFT JOIN job_run r ON r.run_id = f.run_id"
LISTED: Final = (
    "SELECT f.import_id, COALESCE(s.shop_id, '') AS shop_id, f.shop_key, f.kind, f.file, f.state, "
    "f.started_at, f.ended_at, f.rows_read, f.rows_new, f.rows_duplicate, f.rows_replaced, "
    "f.rows_rejected, f.rows_incomplete, COALESCE(r.state, '') AS run_state, COALESCE(r.owner, '') AS owner, "
    "COALESCE(r.seen_at, 0) AS seen_at "
    f"FROM import_file f {_RUN} LEFT JOIN shop s ON s.shop_key = f.shop_key AND f.shop_key <> 0"
)
"""Imports as they are stored; see `imported_file`."""
_OF_SHOP: Final = text(f"{LISTED} WHERE f.import_id = :import_id AND f.shop_key = :shop_key")
_PURGED: Final = text(
    "SELECT COALESCE(SUM(purged), 0) FROM import_batch WHERE import_id = :import_id"
)
_ASK_UNDO: Final = text(
    f"UPDATE import_file SET state = '{UNDOING}' WHERE shop_key = :shop_key "
    f"AND (import_id = :import_id OR file = :file) AND NOT {IS_WITHDRAWN} RETURNING import_id"
)
# The columns by which the state of a run is told, besides its own.
_RUN_COLUMNS: Final = {"ended_at": 0, "phases": "{}"}


COUNTS: Final = ("read", "new", "duplicate", "replaced", "rejected", "incomplete")


class EventsPurged(Exception):
    """RAW_DAYS removed events of the import: it cannot be undone."""

    def __init__(self, import_id: int, events: int) -> None:
        which = f"{events} of its events" if events > 1 else "an event of it"
        super().__init__(
            f"import {import_id} can no longer be undone: {which} went, older than RAW_DAYS"
        )


class ImportUndone(Exception):
    """The import was undone while it was thought dead."""


@dataclass
class ImportedFile:
    """An import. `shop_id`: of the shop of all its rows, "" for several shops or none."""

    import_id: int
    shop_id: str
    kind: str
    file: str
    state: str
    started_at: int
    ended_at: int
    read: int
    new: int
    duplicate: int
    replaced: int
    rejected: int
    incomplete: int


@dataclass
class ImportRecord:
    """An import while it lasts."""

    import_id: int
    # The keys of the shops of its rows so far.
    shops: set[int] = field(default_factory=set)
    # The counts so far, by the names of COUNTS.
    counts: Counter[str] = field(default_factory=Counter)


def begin(connection: ArrowConnection, kind: str, file: str, run_id: int, now: int) -> ImportRecord:
    """Insert the row of an import that starts. Commits."""
    # Bytes of a name that are not UTF-8 stay visible; no database would take them.
    name = file.encode(errors="surrogateescape").decode(errors="backslashreplace")
    import_id = connection.value(
        "INSERT INTO import_file (kind, file, state, run_id, started_at) "
        "VALUES ($1, $2, $3, $4, $5) RETURNING import_id",
        kind,
        name,
        RUNNING,
        run_id,
        now,
    )
    connection.commit()
    return ImportRecord(int(import_id))


def advance(connection: ArrowConnection, record: ImportRecord) -> None:
    """Store the counts so far, in the transaction that writes the rows. Raises ImportUndone."""
    (shop_key,) = record.shops if len(record.shops) == 1 else {0}
    counts = ", ".join(f"rows_{name} = ${place}" for place, name in enumerate(COUNTS, 4))
    updated = connection.changed(
        f"UPDATE import_file SET shop_key = $1, {counts} WHERE import_id = $2 AND state = $3 "
        "RETURNING import_id",
        *(shop_key, record.import_id, RUNNING),
        *(record.counts[name] for name in COUNTS),
    )
    if not updated:
        raise ImportUndone(
            f"import {record.import_id} was undone while it stood still; import the file again"
        )


def end(connection: ArrowConnection, record: ImportRecord, state: str, now: int) -> None:
    """Store how an import ended. Commits."""
    connection.execute(
        "UPDATE import_file SET state = $1, ended_at = $2 WHERE import_id = $3 AND state = $4",
        state,
        now,
        record.import_id,
        RUNNING,
    )
    connection.commit()


def add_retried(
    connection: ArrowConnection, import_id: int, accepted: int, incomplete: int
) -> None:
    """Count rows of an import as accepted by a retry of its rejects, in the transaction that writes them;
    and how many more rows lack a field. Raises ImportUndone."""
    connection.execute(
        "UPDATE import_file SET rows_new = rows_new + $1, rows_rejected = rows_rejected - $1, "
        "rows_incomplete = rows_incomplete + $2 WHERE import_id = $3",
        accepted,
        incomplete,
        import_id,
    )
    if connection.value(f"SELECT COUNT(*) FROM ({WITHDRAWN}) w WHERE import_id = $1", import_id):
        raise ImportUndone(f"import {import_id} was undone")


def list_imports(
    connection: ArrowConnection, now: int, shop_key: int | None, limit: int
) -> list[ImportedFile]:
    """The last imports, the newest first: of all, or of those with rows of one shop alone. Commits."""
    which = "" if shop_key is None else f"WHERE f.shop_key = {shop_key}"
    rows = connection.table(f"{LISTED} {which} ORDER BY f.import_id DESC LIMIT {limit}").to_pylist()
    connection.commit()
    return [imported_file(row, now) for row in rows]


def is_done(connection: ArrowConnection, import_id: int) -> bool:
    """Whether an import came to the end of its file, and stands. Commits."""
    done = connection.value(
        f"SELECT 1 FROM import_file WHERE import_id = $1 AND state = '{DONE}'", import_id
    )
    connection.commit()
    return bool(done)


def with_stamp(connection: ArrowConnection, kind: str, stamp: str) -> list[int]:
    """The imports of a kind that are done and stand, of files with such a part of a pull's name. Commits."""
    rows = connection.table(
        f"SELECT import_id FROM import_file WHERE kind = $1 AND state = '{DONE}' AND file LIKE $2",
        kind,
        f"%~{stamp}%",
    )
    connection.commit()
    return [int(number) for number in rows.column(0).to_pylist()]


def find(connection: ArrowConnection, import_id: int, now: int) -> ImportedFile | None:
    """An import, None if it is not known. Commits."""
    rows = connection.table(f"{LISTED} WHERE f.import_id = $1", import_id).to_pylist()
    connection.commit()
    return imported_file(rows[0], now) if rows else None


def imported_file(row: dict[str, Any], now: int) -> ImportedFile:
    """A row of the list as an import, with its state at this instant."""
    state = row["state"]
    if state == RUNNING:
        run = {name: row[name] for name in ("owner", "seen_at")} | {"state": row["run_state"]}
        if job_runs.at(run | _RUN_COLUMNS, now)["state"] != job_runs.RUNNING:
            state = DIED
    stated = {name: row[name] for name in ("import_id", "shop_id", "kind", "file", "started_at")}
    stated |= {name: int(row[f"rows_{name}"]) for name in COUNTS}
    return ImportedFile(**stated, state=state, ended_at=row["ended_at"])


def find_of_shop(
    connection: Connection, shop_key: int, import_id: int, now: int
) -> ImportedFile | None:
    """An import of rows of this shop alone that can be undone; None without such a one."""
    asked = {"import_id": import_id, "shop_key": shop_key}
    row = connection.execute(_OF_SHOP, asked).mappings().one_or_none()
    if row is None or connection.scalar(_PURGED, {"import_id": import_id}):
        return None
    imported = imported_file(dict(row), now)
    return imported if can_undo(imported, now) else None


def can_undo(imported: ImportedFile, now: int) -> bool:
    """Whether an import stands and is young enough to be undone. Events of it may be gone nevertheless
    (EventsPurged)."""
    youngest = now - settings.IMPORTS_DAYS.get() * MICROS_PER_DAY
    return imported.state in (DONE, FAILED, DIED) and imported.started_at > youngest


def ask_undo(connection: Connection, shop_key: int, imported: ImportedFile, now: int) -> bool:
    """Mark an import as withdrawn, and ask the next rollup to undo it; of a dropped file all imports, since
    the process of one may have been killed. False if it cannot be undone. The caller commits."""
    # Imports that write rows of the shop end first: see `begin_undo`.
    connection.execute(select(shop.c.shop_key).where(shop.c.shop_key == shop_key).with_for_update())
    if find_of_shop(connection, shop_key, imported.import_id, now) is None:
        return False
    file = imported.file if is_dropped(imported.file.rpartition("/")[2]) else None
    asked = {"shop_key": shop_key, "import_id": imported.import_id, "file": file}
    for number in connection.execute(_ASK_UNDO, asked).scalars().all():
        tasks.ask(connection, shop_key, IMPORT_NUMBERED.format(number), UNDO, now, str(number))
    return True


def begin_undo(connection: ArrowConnection, import_id: int) -> None:
    """Mark an import as withdrawn, and ask for the rest of its undo. Commits.

    From here on, an import that repeats a row of it cannot do so unseen: those that write now end first. And
    no event of it is purged. Raises EventsPurged.
    """
    lock_shops_of(connection, import_id)
    shops = connection.table(
        f"UPDATE import_file SET state = '{UNDOING}' WHERE import_id = $1 AND state <> '{UNDONE}' "
        "RETURNING shop_key",
        import_id,
    )
    check_purged(connection, import_id)
    for shop_key in shops.column(0).to_pylist():
        subject = IMPORT_NUMBERED.format(import_id)
        tasks.ask_of_job(connection, shop_key, subject, UNDO, str(import_id))
    connection.commit()


def lock_shops_of(connection: ArrowConnection, import_id: int) -> None:
    """Lock the shops of which an import has brought or repeated rows, or named forms."""
    told = ("import_batch", "repeated_event", "repeated_order", "form_seen")
    of_import = " UNION ".join(
        f"SELECT shop_key FROM {table} WHERE import_id = {import_id}" for table in told
    )
    connection.lock_shops(of_import)


def check_purged(connection: ArrowConnection, import_id: int) -> None:
    """Raise EventsPurged, after a rollback, if events of an import are gone."""
    events = connection.value(
        "SELECT CAST(COALESCE(SUM(purged), 0) AS BIGINT) FROM import_batch WHERE import_id = $1",
        import_id,
    )
    if events:
        connection.rollback()
        raise EventsPurged(import_id, int(events))


def end_undo(connection: ArrowConnection, import_id: int, rows_gone_at: int) -> None:
    """Record that nothing is left of an import but its row; and figures that have its raw rows, where these
    have gone at an instant (0: it had none). The caller commits."""
    connection.execute(
        "UPDATE import_file SET rows_gone_at = $1, state = $2 WHERE import_id = $3",
        *(rows_gone_at, UNDOING if rows_gone_at else UNDONE, import_id),
    )

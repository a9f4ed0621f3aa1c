"""Undoing an import: what it alone had brought goes, and what it had replaced stands again.

From its first transaction on, the import stands no longer. Raw rows go in portions (`pipeline/removal.py`),
all else in the last transaction; the next rollup builds the figures that had them anew. An undo that was
killed is ended by the next `imports undo` of it, or by the next rollup: it is a task until then.

Imports that are too old to be undone are forgotten: what they wrote stands for good.
"""

from collections import Counter
from functools import partial
from typing import Any, Final

from jobs.importing.kinds import KINDS, seen_forms
from jobs.importing.kinds.replace_last import ReplaceLast, TakenBack, same_key
from jobs.pipeline.removal import RawRows, remove_rows
from jobs.run.console import say
from jobs.run.errors import AlreadyRunning
from jobs.run.job_run import JobRun
from jobs.run.work import work
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection, names
from warehouse.domain.time import MICROS_PER_DAY
from warehouse.domain.vocabulary import UNDOING, UNDONE
from warehouse.intake import imports
from warehouse.intake.imports import WITHDRAWN, ImportedFile
from warehouse.operations import job_runs, tasks
from warehouse.operations.process_id import display_name
from warehouse.operations.tasks import UNDO, Task
from warehouse.tables.base import unique_names

JOB: Final = "undo"
"""The job of whoever undoes an import; one runs at a time."""


def preview(connection: ArrowConnection, imported: ImportedFile) -> TakenBack:
    """The effect that undoing an import would have. Commits nothing. Raises EventsPurged."""
    imports.check_purged(connection, imported.import_id)
    kind = KINDS[imported.kind]
    if isinstance(kind, ReplaceLast):
        taken_back = kind.take_back(connection, imported.import_id)
    else:
        taken_back = RawImport(connection, imported).counted()
    connection.rollback()
    return taken_back


def undo(run: JobRun, imported: ImportedFile) -> TakenBack:
    """Undo an import, or go on with that; returns what it did. `run` is the exclusive one of JOB.

    Raises EventsPurged, with nothing changed, and Stopped after a signal."""
    connection, import_id = run.connection, imported.import_id
    imports.begin_undo(connection, import_id)
    if isinstance(kind := KINDS[imported.kind], ReplaceLast):
        taken_back = kind.take_back(connection, import_id)
        _end(connection, import_id, 0)
        return taken_back
    raw = RawImport(connection, imported)
    gone, stay = Counter[str](), raw.counted().stay
    connection.commit()
    while True:
        for rows in raw.going:
            gone += remove_rows(run, raw.shops, raw.as_rows(rows))
        # Nobody repeats a row or retries a reject of it meanwhile.
        imports.lock_shops_of(connection, import_id)
        if not any(map(raw.count, raw.going)):
            raw.forget()
            _end(connection, import_id, connection.now_micros())
            return TakenBack(gone[imported.kind], 0, stay)
        connection.rollback()


def end_undos(run: JobRun, *, waits: bool) -> bool:
    """Do the undos that are asked for. Where another process is undoing an import, wait for it (`waits`), or
    leave the others to it. Returns whether none failed. Raises Stopped after a signal."""
    connection = run.connection

    def undo_asked(own: JobRun, task: Task) -> dict[str, Any]:
        imported = imports.find(connection, int(task.item), connection.now_micros())
        if imported:
            undo(own, imported)
            say(f"the rows of import {task.item} are gone")
        return {}

    while tasks.are_waiting(connection, [UNDO]):
        try:
            with JobRun(JOB, exclusive=True, connection=connection) as own:
                return work(own, {UNDO: undo_asked})
        except AlreadyRunning:
            if not waits:
                break
            run.wait_for(display_name(job_runs.holder(connection, JOB)))
    return True


class RawImport:
    """The raw rows that an import of events or orders brought or repeated.

    - `shops`: the keys of their shops
    - `going`: conditions on the rows that go: those that it brought, and those that are left to it, since the
      import that brought them was undone
    """

    def __init__(self, connection: ArrowConnection, imported: ImportedFile) -> None:
        self._connection, self._id = connection, imported.import_id
        self.as_rows = partial(RawRows, "false") if imported.kind == "orders" else RawRows
        self._table = {"events": tables.raw_event, "orders": tables.raw_order}[imported.kind]
        self._repeated = tables.REPEATED[self._table].name
        own, key = f"import_id = {self._id}", unique_names(self._table)
        self.shops = connection.table(
            f"SELECT shop_key FROM import_batch WHERE {own} "
            f"UNION SELECT shop_key FROM {self._repeated} WHERE {own} ORDER BY shop_key"
        )["shop_key"].to_pylist()
        # No other import that stands has repeated the row.
        is_alone = (
            f"NOT EXISTS (SELECT 1 FROM {self._repeated} p "
            f"WHERE {same_key(key, 'p', self._table.name)} "
            f"AND p.import_id <> {self._id} AND p.import_id NOT IN ({WITHDRAWN}))"
        )
        repeated = f"({names(key)}) IN (SELECT {names(key)} FROM {self._repeated} WHERE {own})"
        batches = "batch_id IN (SELECT b.batch_id FROM import_batch b WHERE b.{})".format
        withdrawn = batches(f"import_id IN ({WITHDRAWN} AND import_id <> {self._id})")
        self.going = (
            f"{batches(own)} AND {is_alone}",
            f"{repeated} AND {withdrawn} AND {is_alone}",
        )

    def counted(self) -> TakenBack:
        """The number of rows that go, and of rows that it brought and that stay."""
        own, left = map(self.count, self.going)
        brought = self._connection.value(
            "SELECT CAST(COALESCE(SUM(rows), 0) AS BIGINT) FROM import_batch WHERE import_id = $1",
            self._id,
        )
        return TakenBack(own + left, 0, int(brought) - own)

    def count(self, which: str) -> int:
        """How many rows meet a condition."""
        return int(self._connection.value(f"SELECT COUNT(*) FROM {self._table.name} WHERE {which}"))

    def forget(self) -> None:
        """Forget what it repeated, and the forms that it named. The caller commits."""
        seen_forms.take_back(self._connection, self._id)
        self._connection.execute(f"DELETE FROM {self._repeated} WHERE import_id = $1", self._id)


def _end(connection: ArrowConnection, import_id: int, rows_gone_at: int) -> None:
    """Delete the rejects of an import, and record that its rows are gone (`imports.end_undo`). Commits."""
    connection.execute("DELETE FROM reject WHERE import_id = $1", import_id)
    connection.execute(f"DELETE FROM task WHERE kind = '{UNDO}' AND item = $1", str(import_id))
    imports.end_undo(connection, import_id, rows_gone_at)
    connection.commit()


def purge_imports(connection: ArrowConnection, now: int, days: int) -> None:
    """Forget the imports that ended more than so many days ago. Commits."""
    before = now - days * MICROS_PER_DAY
    # A killed import has no end.
    ended = f"CASE WHEN ended_at = 0 THEN started_at + {MICROS_PER_DAY} ELSE ended_at END"
    expired = f"SELECT import_id FROM import_file WHERE {ended} < {before} AND state <> '{UNDOING}'"
    for raw, repeated in tables.REPEATED.items():
        same = same_key(unique_names(raw), "t", repeated.name)
        # A row of an import that was undone is there because others repeated it.
        connection.execute(
            f"DELETE FROM {repeated.name} WHERE import_id IN ({expired}) AND NOT EXISTS "
            f"(SELECT 1 FROM {raw.name} t JOIN import_batch b ON b.batch_id = t.batch_id "
            f"WHERE {same} AND b.import_id IN ({WITHDRAWN}))"
        )
    connection.commit()
    seen_forms.forget(connection, expired)
    for kind in KINDS.values():
        if isinstance(kind, ReplaceLast):
            kind.forget(connection, expired)
            connection.commit()
    connection.execute(
        f"DELETE FROM import_file WHERE import_id IN ({expired}) AND (state <> '{UNDONE}' OR NOT EXISTS "
        "(SELECT 1 FROM import_batch b WHERE b.import_id = import_file.import_id AND b.rows > 0))"
    )
    connection.commit()

"""An import is undone: what it alone had brought goes, and what it had replaced stands again.

From its first transaction on, the import stands no longer. Raw rows go in portions, each with its figures
(`pipeline/removal.py`); all else goes in the last transaction. An undo that was killed is ended by the next
`imports undo` of it, or by the next rollup.

Imports that are too old to be undone are forgotten: what they wrote stands for good.
"""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Final

from jobs.importing.kinds import KINDS, seen_forms
from jobs.importing.kinds.replace_last import ReplaceLast, TakenBack, same_key
from jobs.pipeline.removal import RawRows, remove_rows
from jobs.pipeline.removed_rows import portion_rows
from jobs.run.console import say
from jobs.run.errors import AlreadyRunning, explained
from jobs.run.job_run import JobRun
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection, names
from warehouse.connections.errors import is_outage
from warehouse.connections.portions import small_together
from warehouse.domain.time import MICROS_PER_DAY
from warehouse.editions.pending_batches import sql_list
from warehouse.operations import imports
from warehouse.operations.imports import UNDOING, UNDONE, WITHDRAWN, ImportedFile
from warehouse.tables.base import unique_names

JOB: Final = "undo"
"""The job of whoever undoes an import; one runs at a time."""

# Batches, or shops, whose rows are removed together.
_BATCHES: Final = 200


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
        _end(connection, import_id)
        return taken_back
    raw = RawImport(connection, imported)
    gone, stay = Counter[str](), raw.counted().stay
    connection.commit()
    while True:
        for shops, rows in raw.parts():
            gone += remove_rows(run, shops, rows)
        # Nobody repeats a row or retries a reject of it meanwhile.
        imports.lock_shops_of(connection, import_id)
        if not raw.parts():
            raw.forget()
            _end(connection, import_id)
            return TakenBack(gone[imported.kind], 0, stay)
        connection.rollback()


def end_undos(connection: ArrowConnection) -> None:
    """Go on with the undos that no process goes on with. Raises Stopped after a signal.

    One that fails is said so and tried by the next run: it must not keep figures waiting."""
    for import_id in imports.unfinished_undos(connection):
        try:
            with JobRun(JOB, str(import_id), exclusive=True, connection=connection) as run:
                # Another process may have ended it before this run began.
                imported = imports.find(connection, import_id, connection.now_micros())
                if imported and imported.state == imports.UNDOING:
                    undo(run, imported)
                    say(f"import {import_id} is undone")
        except AlreadyRunning:
            return
        except Exception as error:
            if is_outage(error):
                raise
            say(f"the undo of import {import_id} failed: {explained(error)}")


class RawImport:
    """The raw rows that an import of events or orders brought or repeated."""

    def __init__(self, connection: ArrowConnection, imported: ImportedFile) -> None:
        self._connection, self._id = connection, imported.import_id
        self._rows = partial(RawRows, "false") if imported.kind == "orders" else RawRows
        self._table = {"events": tables.raw_event, "orders": tables.raw_order}[imported.kind]
        self._repeated = tables.REPEATED[self._table].name
        self._key = unique_names(self._table)
        same = same_key(self._key, "p", self._table.name)
        # No other import that stands has repeated the row.
        self._is_alone = (
            f"NOT EXISTS (SELECT 1 FROM {self._repeated} p WHERE {same} "
            f"AND p.import_id <> {self._id} AND p.import_id NOT IN ({WITHDRAWN}))"
        )
        # It repeated the row, and the import that brought it was undone.
        key = names(self._key)
        self._is_left_to_it = (
            f"({key}) IN (SELECT {key} FROM {self._repeated} WHERE import_id = {self._id}) AND "
            "batch_id IN (SELECT b.batch_id FROM import_batch b WHERE b.import_id IN "
            f"({WITHDRAWN} AND import_id <> {self._id}))"
        )

    def counted(self) -> TakenBack:
        """How many rows go, and how many of those that it brought stay."""
        own = sum(self._count(*part) for part in self._brought())
        left = sum(self._count(*part) for part in self._left_to_it())
        brought = self._connection.value(
            "SELECT CAST(COALESCE(SUM(rows), 0) AS BIGINT) FROM import_batch WHERE import_id = $1",
            self._id,
        )
        return TakenBack(own + left, 0, int(brought) - own)

    def parts(self) -> list[tuple[list[int], RawRows]]:
        """Shops, and the rows of them that go. Leaves a transaction open."""
        return [
            (shops, self._rows(f"{which} AND {self._is_alone}"))
            for shops, which in (*self._brought(), *self._left_to_it())
            if self._connection.value(f"SELECT 1 {self._from(shops, which)} LIMIT 1")
        ]

    def forget(self) -> None:
        """Forget what it repeated, and the forms that it named. The caller commits."""
        seen_forms.take_back(self._connection, self._id)
        self._connection.execute(f"DELETE FROM {self._repeated} WHERE import_id = $1", self._id)

    def _brought(self) -> Iterator[tuple[list[int], str]]:
        """Shops, and conditions on their rows that the import brought. Small batches are taken together: an
        import can have brought a few rows of each of thousands of shops."""
        batches = self._connection.table(
            "SELECT shop_key, batch_id, rows FROM import_batch WHERE import_id = $1 AND rows > 0 "
            "ORDER BY shop_key, batch_id",
            self._id,
        ).to_pylist()
        shops = {batch["batch_id"]: batch["shop_key"] for batch in batches}
        sizes = ((batch["batch_id"], batch["rows"]) for batch in batches)
        for numbers in small_together(sizes, portion_rows(), _BATCHES):
            own = sorted({shops[number] for number in numbers})
            yield own, f"batch_id IN ({sql_list(numbers)})"

    def _left_to_it(self) -> Iterator[tuple[list[int], str]]:
        sizes = self._connection.table(
            f"SELECT shop_key, COUNT(*) FROM {self._table.name} WHERE {self._is_left_to_it} "
            "GROUP BY shop_key ORDER BY shop_key"
        )
        rows = zip(*(column.to_pylist() for column in sizes.columns), strict=True)
        for shops in small_together(rows, portion_rows(), _BATCHES):
            yield shops, self._is_left_to_it

    def _count(self, shops: list[int], which: str) -> int:
        return int(self._connection.value(f"SELECT COUNT(*) {self._from(shops, which)}"))

    def _from(self, shops: list[int], which: str) -> str:
        return (
            f"FROM {self._table.name} WHERE shop_key IN ({sql_list(shops)}) "
            f"AND {which} AND {self._is_alone}"
        )


def _end(connection: ArrowConnection, import_id: int) -> None:
    """Delete the rejects of an import, and have it undone. Commits."""
    connection.execute("DELETE FROM reject WHERE import_id = $1", import_id)
    imports.end_undo(connection, import_id)
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

"""Rejected rows: listed, retried, purged."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from jobs.importing.files.chunk import BrokenLine, Chunk
from jobs.importing.files.ndjson import chunk_of_texts
from jobs.importing.formats import FORMATS
from jobs.importing.formats.base import Records, Target, kept_record
from jobs.importing.import_file import write_chunk
from jobs.importing.kept_rejects import Rejects, certain_shop
from jobs.importing.kinds import KINDS
from jobs.importing.kinds.base import Counts, Kind
from jobs.importing.shops import ImportedShops, ShopDeleted, load_shops
from jobs.importing.values.columns import ChunkColumns
from jobs.run.job_run import JobRun
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection, Cell
from warehouse.connections.chunks import chunks
from warehouse.domain.time import MICROS_PER_DAY
from warehouse.domain.vocabulary import KEPT, Reason, without_values
from warehouse.intake import imports
from warehouse.operations import tasks
from warehouse.operations.tasks import RETRY, Task
from warehouse.persons.hash_secret import email_hasher

# Rejects that are listed or retried at once, and the characters of their texts.
_ROWS: Final = 5_000
_TEXT: Final = 16 << 20
# Rejects of one shop that one refresh tries: the figures of others must not wait for them.
_ROWS_A_REFRESH: Final = 20_000

_REASONS: Final = "staged_reasons"


@dataclass(frozen=True)
class Reject:
    """A rejected row: its place, the reason and its code, its kept text. `format`, `shop_id`,
    `is_textual`: see `Chunk`. `import_id`: the import that brings it once a retry accepts it."""

    reject_id: int
    kind: str
    format: str
    shop_id: str
    file: str
    line: int
    reason: str
    code: str
    text: str
    is_textual: int
    import_id: int


def purge_rejects(connection: ArrowConnection, now: int, days: int) -> None:
    """Delete the rejects that are older than this many days. Commits."""
    connection.execute("DELETE FROM reject WHERE rejected_at < $1", now - days * MICROS_PER_DAY)
    connection.commit()


@dataclass(frozen=True)
class RejectFilter:
    """Some rejects: of a kind, a file (its path or the end of it), a shop; "" stands for any."""

    kind: str = ""
    file: str = ""
    shop_id: str = ""

    @property
    def where(self) -> str:
        """The SQL condition; its parameters are `values`."""
        return (
            "WHERE ($1 = '' OR kind = $1) "
            "AND ($2 = '' OR file = $2 OR SUBSTR(file, LENGTH(file) - LENGTH($2)) = '/' || $2) "
            "AND ($3 = '' OR shop_id = $3 "
            "OR shop_key = (SELECT s.shop_key FROM shop s WHERE s.shop_id = $3))"
        )

    @property
    def values(self) -> tuple[str, str, str]:
        return self.kind, self.file, self.shop_id


EVERY_REJECT: Final = RejectFilter()


def list_rejects(
    connection: ArrowConnection, some: RejectFilter = EVERY_REJECT, limit: int | None = None
) -> Iterator[Reject]:
    """Rejects, by file and line; the first of them up to a limit."""
    # Ids first: the texts must not all be in memory, nor a reader stay open while someone pages
    # through the list.
    which = f"{some.where} ORDER BY file, line, reject_id"
    which += f" LIMIT {limit}" if limit else ""
    for page in pages(connection, which, *some.values):
        rejects = {reject.reject_id: reject for reject in _read(connection, page)}
        yield from (rejects[number] for number in page if number in rejects)


def dismiss_rejects(connection: ArrowConnection, some: RejectFilter) -> int:
    """Forget rejects; returns how many. Commits."""
    dismissed = connection.changed(
        f"DELETE FROM reject {some.where} RETURNING reject_id", *some.values
    )
    connection.commit()
    return dismissed


def rejects_by_reason(
    connection: ArrowConnection, some: RejectFilter = EVERY_REJECT
) -> list[dict[str, Any]]:
    """`kind`, `code`, `reason`, `rows` and `example` (the id of the first) of rejects, the most
    frequent first. Reasons are without the values that they quote: one mistake of a producer is one
    reason."""
    groups: dict[tuple[str, str, str], dict[str, Any]] = {}
    counted = connection.table(
        "SELECT kind, code, reason, COUNT(*) AS rows, MIN(reject_id) AS example FROM reject "
        f"{some.where} GROUP BY kind, code, reason",
        *some.values,
    ).to_pylist()
    for row in counted:
        of = {"kind": row["kind"], "code": row["code"], "reason": without_values(row["reason"])}
        group = groups.setdefault(
            (of["kind"], of["code"], of["reason"]), of | {"rows": 0, "example": row["example"]}
        )
        group["rows"] += int(row["rows"])
        group["example"] = min(group["example"], row["example"])
    return sorted(
        groups.values(), key=lambda group: (-group["rows"], group["kind"], group["reason"])
    )


def rejects_of(connection: ArrowConnection, numbers: list[int]) -> dict[int, Reject]:
    """Rejects by their ids."""
    return {reject.reject_id: reject for reject in _read(connection, numbers)}


def retry_rejects(connection: ArrowConnection, some: RejectFilter = EVERY_REJECT) -> Counts:
    """Import the kept text of rejects again. Returns the counts.

    A row that is accepted now (or is a duplicate) is removed from the rejects in the transaction that
    writes it. A row that is refused again, or lacks a field still, stays with its new reason; a text that is
    no row (the unreadable part of a file) stays as it is.
    """
    counts = Counts()
    for kind in KINDS.values():
        which = f"{some.where} AND kind = '{kind.name}' ORDER BY reject_id"
        for page in pages(connection, which, *some.values):
            _retry_page(connection, kind, _read(connection, page), counts)
    return counts


def retry_of_shop(run: JobRun, task: Task) -> dict[str, Any] | None:
    """Retry the rejects of a shop that asks for it on its Data page, so many at most: the next refresh goes
    on. Raises Stopped after a signal."""
    connection, tried = run.connection, 0
    which = f"WHERE shop_key = $1 AND reject_id > $2 ORDER BY reject_id LIMIT {_ROWS_A_REFRESH}"
    for some in pages(connection, which, task.shop_key, int(task.payload or 0)):
        run.raise_if_stopped()
        rejects = _read(connection, some)
        for kind in KINDS.values():
            of_kind = [reject for reject in rejects if reject.kind == kind.name]
            _retry_page(connection, kind, of_kind, Counts())
        tasks.advance(connection, task, str(some[-1]))
        tried += len(some)
    return {} if tried < _ROWS_A_REFRESH else None


def _retry_page(
    connection: ArrowConnection, kind: Kind, rejects: list[Reject], counts: Counts
) -> None:
    """Retry some rejects of a kind, those of the same format, shop, way to write numbers and import
    together."""
    groups: dict[tuple[str, str, bool, int], list[Reject]] = {}
    for reject in rejects:
        group = reject.format, reject.shop_id, bool(reject.is_textual), reject.import_id
        groups.setdefault(group, []).append(reject)
    for (name, shop_id, textual, _), tried in groups.items():
        shops = load_shops(connection)
        if shop_id:
            shops = shops.narrowed(shop_id)
        # The kept texts as rows; the numbers of their lines are the ids of the rejects.
        if not name:
            texts = [(reject.reject_id, reject.text) for reject in tried]
            chunk = chunk_of_texts(kind.field_names(), texts, textual=textual)
        else:
            currency = shops.currencies.get(shops.keys.get(shop_id, 0), "")
            numbered = [(reject.reject_id, kept_record(reject.text)) for reject in tried]
            kept = Records([(id, record) for id, record in numbered if record is not None])
            chunk = FORMATS[name].chunk(kind, Target(shop_id, currency), kept)
        read = {*chunk.lines.tolist(), *(line.line for line in chunk.broken)}
        chunk.broken += [
            BrokenLine(one.reject_id, one.reason) for one in tried if one.reject_id not in read
        ]
        columns = ChunkColumns(chunk, email_hasher(connection))
        sink = _TriedRejects(connection, kind, shops, tried)
        rows = kind.check(columns, shops)
        columns.passed_over.update(sink.unchanged(columns))
        try:
            write_chunk(connection, kind, sink, columns, rows, counts)
            if imports.is_done(connection, sink.import_id):
                kind.finish(connection, [sink.import_id])
        except (imports.ImportUndone, ShopDeleted):
            # Meanwhile: its rejects went with the import, or are of no shop now.
            connection.rollback()


class _TriedRejects:
    """Rejects of one import that are tried again: those that are accepted go, the others have a new reason.
    A text that is no row (the unreadable part of a file) stays as it is."""

    file = ""
    not_kept = 0

    def __init__(
        self,
        connection: ArrowConnection,
        kind: Kind,
        shops: ImportedShops,
        tried: list[Reject],
    ) -> None:
        self._connection, self._kind, self._shops = connection, kind, shops
        self._reasons = {reject.reject_id: reject.reason for reject in tried}
        self._were_taken = sum(reject.code == KEPT for reject in tried)
        self.import_id = tried[0].import_id
        self._refused: list[tuple[int, Reason, int]] = []

    def unchanged(self, columns: ChunkColumns) -> list[int]:
        """A mask of the rows that lack the same fields as when they were taken."""
        return [
            row
            for row, reason in columns.incomplete()
            if self._reasons[int(columns.chunk.lines[row])] == reason.words
        ]

    def stage(self, columns: ChunkColumns) -> Rejects:
        """Stage the new reasons, and the shops to which the rows belong: a shop may be known by now."""
        chunk = columns.chunk
        found = (*columns.refused(), *columns.incomplete())
        refused = [(int(chunk.lines[row]), reason, row) for row, reason in found]
        unread = [(line.line, Reason(line.reason), None) for line in chunk.broken if chunk.format]
        self._refused = [
            (number, reason, certain_shop(self._shops, self._kind, columns, row))
            for number, reason, row in (*refused, *unread)
        ]
        rows = [
            (number, *reason, shop_key)
            for number, reason, shop_key in self._refused
            if reason.words != self._reasons[number]
        ]
        columns_of = zip(*rows, strict=True) if rows else ((), (), (), (), ())
        names = ("reject_id", "reason", "code", "field", "shop_key")
        types = (pa.int64(), pa.string(), pa.string(), pa.string(), pa.int64())
        arrays = map(pa.array, columns_of, types)
        self._connection.stage(_REASONS, pa.table(dict(zip(names, arrays, strict=True))))
        return []

    def write(self, chunk: Chunk, tried: Counts, _shops: set[int]) -> None:
        """Remove the rows that are accepted, and write the reasons of the others. Raises ImportUndone."""
        connection = self._connection
        if tried.read - tried.rejected:
            accepted = len(self._reasons) - self._were_taken - tried.rejected
            incomplete = tried.incomplete - self._were_taken
            imports.add_retried(connection, self.import_id, accepted, incomplete)
            left = [number for number, *_ in self._refused]
            ids = pa.array(np.setdiff1d(chunk.lines, left))
            staged = connection.stage("staged_done", pa.table({"reject_id": ids}))
            which = f"reject_id IN (SELECT reject_id FROM {staged})"
            connection.execute(
                f"UPDATE task SET rows = rows + (SELECT COUNT(*) FROM reject WHERE {which} "
                f"AND reject.shop_key = task.shop_key) WHERE kind = '{RETRY}' AND ended_at = 0"
            )
            connection.execute(f"DELETE FROM reject WHERE {which}")
        if self._refused:
            connection.execute(
                "UPDATE reject SET reason = s.reason, code = s.code, field = s.field, "
                f"shop_key = s.shop_key FROM {_REASONS} s WHERE s.reject_id = reject.reject_id"
            )


def pages(connection: ArrowConnection, which: str, *values: Cell) -> Iterator[list[int]]:
    """The ids of some rejects, in pages that fit into memory with their texts."""
    found = connection.table(f"SELECT reject_id, LENGTH(text) AS size FROM reject {which}", *values)
    sizes = zip(*found.to_pydict().values(), strict=True)
    return chunks(sizes, _TEXT, _ROWS)


def _read(connection: ArrowConnection, numbers: list[int]) -> list[Reject]:
    """The rejects of these ids that still exist. Commits, so that a write can come next."""
    listed = ", ".join(map(str, numbers)) or "0"
    rows = connection.rows_of(
        tables.reject,
        "SELECT reject_id, kind, format, shop_id, file, line, reason, code, text, is_textual, import_id "
        f"FROM reject WHERE reject_id IN ({listed}) ORDER BY reject_id",
    )
    connection.commit()
    return [Reject(**row) for row in rows.to_pylist()]

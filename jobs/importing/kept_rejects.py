"""The rejects of one import of a file that are kept: the first ones. The others are counted.

A few bytes can unpack to millions of rejects, which would fill the disk. The collector's files are of all
shops. So where a file has no place left, a reject takes that of the last one of the shop that has the most.
The bad rows of one shop do not hide those of another.
"""

from operator import itemgetter
from typing import Any, Final, NamedTuple

import pyarrow as pa

from jobs.importing.files.chunk import HIDDEN, MAX_KEPT_REJECTS, Chunk
from jobs.importing.kinds.base import Kind, Written
from jobs.importing.reject_text import kept_text
from jobs.importing.shops import SHOP_ID, ImportedShops
from jobs.importing.values.columns import ChunkColumns
from jobs.run.clock import now_micros
from warehouse.connections.arrow import ArrowConnection
from warehouse.editions.pending_batches import sql_list
from warehouse.operations import forgotten, imports
from warehouse.operations.imports import ImportRecord
from warehouse.operations.reject_reasons import NOT_KEPT, Reason

# Characters of the texts of a file's rejects that are kept: 3,000 for each of them.
_MAX_TEXT: Final = 32 << 20

_MAX_REASON: Final = 500
_STAGED: Final = "import_reject"
# The line of the entry that says how many rejects are not kept; lines of files begin at 1.
_NOT_KEPT_LINE: Final = 0

Rejects = list[tuple[int, str, str]]


def certain_shop(shops: ImportedShops, kind: Kind, columns: ChunkColumns, row: int | None) -> int:
    """The key of the shop whose row it certainly is, 0 where that is not known; `row` is None for a line
    that could not be decoded.

    A file of another system is wholly of the shop that the import named. A row of this program is of the
    shop that it names: as a row that is accepted, it would be in that shop's figures. Shops themselves and
    exchange rates are of no shop.
    """
    if columns.chunk.format:
        return shops.find(columns.chunk.shop_id)
    if row is None or SHOP_ID not in kind.fields:
        return 0
    return shops.find(_named_shop(columns, row))


def names_another_shop(shops: ImportedShops, kind: Kind, columns: ChunkColumns, row: int) -> bool:
    """Whether a row names a shop, and none of these."""
    if columns.chunk.format or SHOP_ID not in kind.fields:
        return False
    named = _named_shop(columns, row)
    return named is not None and named != "" and not shops.find(named)


def _named_shop(columns: ChunkColumns, row: int) -> Any:
    cell = columns.cells(SHOP_ID.name)[row]
    return cell.as_py() if isinstance(cell, pa.Scalar) else cell


class Tried(NamedTuple):
    """The rows of a chunk, counted. `incomplete`: those that were taken without a field. `shops`: the keys of
    those whose rows were written."""

    read: int
    rejected: int
    incomplete: int
    written: Written
    shops: set[int]


class KeptRejects:
    """The rejects of a file that are kept, chunk by chunk in the file's order. Another import of the same
    file comes to the same rejects, and adds none."""

    def __init__(
        self,
        connection: ArrowConnection,
        kind: Kind,
        file: str,
        shops: ImportedShops,
        own: ImportRecord,
    ) -> None:
        self._connection, self._kind, self.file, self._shops = connection, kind, file, shops
        self._own, self.import_id = own, own.import_id
        # By shop, the number, the line and the size of each reject that is kept.
        self._kept: dict[int, list[tuple[int, int, int]]] = {}
        self._number = self._rows = self._size = self._most = 0
        # Lines whose stored rejects give way.
        self._gone: list[int] = []
        self.not_kept = 0
        self._has_written = False

    def stage(self, columns: ChunkColumns) -> Rejects:
        """Stage those of a chunk's rejects that are to be kept: none that names a person whom the shop has
        forgotten. Returns their lines, reasons and texts."""
        persons = forgotten.remembered_by_shop(self._connection)
        kept: dict[int, tuple[int, Reason, str, int]] = {}
        found = _in_order(columns)
        for line, reason, row, text in found:
            shop_key = certain_shop(self._shops, self._kind, columns, row)
            if not self._make_room(shop_key, kept):
                continue
            text = text if row is None else columns.chunk.text(row)
            text = kept_text(text, self._kind, columns.hasher, mapped=bool(columns.chunk.format))
            # A row of no certain shop stays: it may be of another one than the person's.
            hashes = persons.get(shop_key, set())
            if hashes and forgotten.is_mentioned(columns.hasher, hashes, reason.words, text):
                continue
            self._number += 1
            kept[self._number] = line, reason, text, shop_key
            of_shop = self._kept.setdefault(shop_key, [])
            of_shop.append((self._number, line, len(text)))
            self._most = max(self._most, len(of_shop))
            self._rows, self._size = self._rows + 1, self._size + len(text)
        rows = list(kept.values())
        rejects = [(line, _words(reason), text) for line, reason, text, _ in rows]
        self._own.shops.update(shop_key for *_, shop_key in rows if shop_key)
        self.not_kept += len(found) - len(rejects) + len(self._gone)
        if self.not_kept:
            number = Reason(f"not kept: {self.not_kept} more rejects of this file", NOT_KEPT)
            shop_key = self._shops.find(self._shop_id(columns.chunk))
            rows.append((_NOT_KEPT_LINE, number, "", shop_key))
        stated = [
            (line, _words(reason), reason.code, reason.field, text, shop_key)
            for line, reason, text, shop_key in rows
        ]
        names = ("line", "reason", "code", "field", "text", "shop_key")
        arrays = map(pa.array, zip(*stated, strict=True))
        self._connection.stage(_STAGED, pa.table(dict(zip(names, arrays, strict=True))))
        return rejects

    def _make_room(self, shop_key: int, staged: dict[int, Any]) -> bool:
        """Whether there is a place for one more reject of a shop, which may be that of another shop's last
        one: of this chunk, whose rejects are `staged` by their numbers, or of one before."""
        while self._rows >= MAX_KEPT_REJECTS or self._size >= _MAX_TEXT:
            if len(self._kept.get(shop_key, ())) + 1 >= self._most:
                return False
            number, line, size = max(self._kept.values(), key=len).pop()
            if staged.pop(number, None) is None:
                self._gone.append(line)
            self._rows, self._size = self._rows - 1, self._size - size
            self._most = max(map(len, self._kept.values()))
        return True

    def write(self, chunk: Chunk, tried: Tried) -> None:
        """Write what is staged: the rejects, and how many are not kept; and the counts of the import. The
        caller commits. Raises ImportUndone."""
        if not self._has_written:
            self._forget_lines(chunk, [_NOT_KEPT_LINE])
            self._has_written = True
        if tried.rejected or tried.incomplete:
            self._write_staged(chunk)
        written, own = tried.written, self._own
        own.shops |= tried.shops
        own.counts.update(
            read=tried.read,
            new=written.new,
            duplicate=written.duplicate,
            replaced=written.replaced,
            rejected=tried.rejected,
            incomplete=tried.incomplete,
        )
        imports.advance(self._connection, own)

    def _write_staged(self, chunk: Chunk) -> None:
        if self.not_kept:
            self._forget_lines(chunk, [_NOT_KEPT_LINE, *self._gone])
            self._gone = []
        self._connection.execute(
            "INSERT INTO reject (kind, format, shop_id, file, line, reason, code, field, text, shop_key, "
            "rejected_at, import_id, is_textual) SELECT $1, $2, $3, $4, s.line, s.reason, s.code, s.field, "
            f"s.text, s.shop_key, $5, $6, $7 FROM {_STAGED} s "
            "WHERE NOT EXISTS (SELECT 1 FROM reject r WHERE r.kind = $1 AND r.shop_id = $3 "
            "AND r.file = $4 AND r.line = s.line AND r.text = s.text "
            # Lines of which nothing is kept are told apart by their reasons.
            f"AND (s.text <> '{HIDDEN}' OR r.reason = s.reason)) ORDER BY s.line",
            self._kind.name,
            chunk.format,
            # Also of rows that name their shop: when they are tried again, they must be of the same.
            self._shop_id(chunk),
            self.file,
            now_micros(),
            self.import_id,
            int(chunk.textual),
        )

    def _forget_lines(self, chunk: Chunk, lines: list[int]) -> None:
        """Those of the file's own shop: exports of two shops may have one name."""
        self._connection.execute(
            "DELETE FROM reject WHERE kind = $1 AND shop_id = $2 AND file = $3 "
            f"AND line IN ({sql_list(lines)})",
            self._kind.name,
            self._shop_id(chunk),
            self.file,
        )

    def _shop_id(self, chunk: Chunk) -> str:
        """The shop of a chunk's rows; "" if they name their own, of several."""
        return chunk.shop_id or self._shops.only


def _words(reason: Reason) -> str:
    return reason.words[:_MAX_REASON]


def _in_order(columns: ChunkColumns) -> list[tuple[int, Reason, int | None, str]]:
    """Line, reason and row of a chunk's rejects, and of the rows that are taken without a field; for a line
    that could not be decoded, None and its text."""
    chunk = columns.chunk
    rejects: list[tuple[int, Reason, int | None, str]]
    found = (*columns.refused(), *columns.incomplete())
    rejects = [(int(chunk.lines[row]), why, row, "") for row, why in found]
    rejects += [(line.line, Reason(line.reason), None, line.text) for line in chunk.broken]
    return sorted(rejects, key=itemgetter(0))

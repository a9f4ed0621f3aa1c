"""The rejects of one import of a file that are kept: the first ones. The others are counted.

A few bytes can unpack to millions of rejects, which would fill the disk.
"""

from operator import itemgetter
from typing import Any, Final

import pyarrow as pa

from jobs.importing.files.chunk import HIDDEN, MAX_KEPT_REJECTS, Chunk
from jobs.importing.kinds.base import Counts, Kind
from jobs.importing.reject_text import kept_text
from jobs.importing.shops import SHOP_ID, ImportedShops
from jobs.importing.values.columns import ChunkColumns
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import now_micros
from warehouse.domain.vocabulary import NOT_KEPT, Reason
from warehouse.intake import imports
from warehouse.intake.imports import ImportRecord
from warehouse.persons import forgotten

# Characters of the texts of a file's rejects that are kept: 3,000 for each of them.
_MAX_TEXT: Final = 32 << 20

_MAX_REASON: Final = 500
_STAGED: Final = "import_reject"
# The line of the entry that says how many rejects are not kept; lines of files begin at 1.
_NOT_KEPT_LINE: Final = 0

Rejects = list[tuple[int, str]]


def certain_shop(shops: ImportedShops, kind: Kind, columns: ChunkColumns, row: int | None) -> int:
    """The key of the shop to which a row certainly belongs, 0 where that is not known; `row` is None for a
    line that could not be decoded.

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
    """Whether a row names a shop that is none of these."""
    if columns.chunk.format or SHOP_ID not in kind.fields:
        return False
    named = _named_shop(columns, row)
    return named is not None and named != "" and not shops.find(named)


def _named_shop(columns: ChunkColumns, row: int) -> Any:
    cell = columns.cells(SHOP_ID.name)[row]
    return cell.as_py() if isinstance(cell, pa.Scalar) else cell


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
        self._rows = self._size = self.not_kept = 0
        self._has_written = False

    def stage(self, columns: ChunkColumns) -> Rejects:
        """Stage those of a chunk's rejects that are to be kept: none that names a person whom the shop has
        forgotten. Returns their lines and reasons."""
        persons = forgotten.remembered_by_shop(self._connection)
        rows: list[tuple[int, Reason, str, int]] = []
        chunk = columns.chunk
        # Line, reason and row of each, in order; for a line that could not be decoded, None and its text.
        found: list[tuple[int, Reason, int | None, str]] = [
            *(
                (int(chunk.lines[row]), reason, row, "")
                for row, reason in (*columns.refused(), *columns.incomplete())
            ),
            *((line.line, Reason(line.reason), None, line.text) for line in chunk.broken),
        ]
        for line, reason, row, text in sorted(found, key=itemgetter(0)):
            if self._rows >= MAX_KEPT_REJECTS or self._size >= _MAX_TEXT:
                break
            shop_key = certain_shop(self._shops, self._kind, columns, row)
            text = text if row is None else chunk.text(row)
            text = kept_text(text, self._kind, columns.hasher, mapped=bool(chunk.format))
            # A row of no certain shop stays: it may be of another one than the person's.
            hashes = persons.get(shop_key, set())
            if hashes and forgotten.is_mentioned(columns.hasher, hashes, reason.words, text):
                continue
            rows.append((line, reason, text, shop_key))
            self._rows, self._size = self._rows + 1, self._size + len(text)
        rejects = [(line, _words(reason)) for line, reason, *_ in rows]
        self._own.shops.update(shop_key for *_, shop_key in rows if shop_key)
        self.not_kept += len(found) - len(rejects)
        if self.not_kept:
            number = Reason(f"not kept: {self.not_kept} more rejects of this file", NOT_KEPT)
            shop_key = self._shops.find(self._shop_id(chunk))
            rows.append((_NOT_KEPT_LINE, number, "", shop_key))
        stated = [
            (line, _words(reason), reason.code, reason.field, text, shop_key)
            for line, reason, text, shop_key in rows
        ]
        names = ("line", "reason", "code", "field", "text", "shop_key")
        arrays = map(pa.array, zip(*stated, strict=True))
        self._connection.stage(_STAGED, pa.table(dict(zip(names, arrays, strict=True))))
        return rejects

    def write(self, chunk: Chunk, tried: Counts, shops: set[int]) -> None:
        """Write what is staged: the rejects, and how many are not kept; and the counts of the import. The
        caller commits. Raises ImportUndone."""
        has_staged = tried.rejected or tried.incomplete
        if not self._has_written or (has_staged and self.not_kept):
            # The count of the file's own shop: exports of two shops may have one name.
            self._connection.execute(
                "DELETE FROM reject WHERE kind = $1 AND shop_id = $2 AND file = $3 AND line = $4",
                *(self._kind.name, self._shop_id(chunk), self.file, _NOT_KEPT_LINE),
            )
        self._has_written = True
        if has_staged:
            self._connection.execute(
                "INSERT INTO reject (kind, format, shop_id, file, line, reason, code, field, text, shop_key, "
                "rejected_at, import_id, is_textual) SELECT $1, $2, $3, $4, s.line, s.reason, s.code, "
                f"s.field, s.text, s.shop_key, $5, $6, $7 FROM {_STAGED} s "
                "WHERE NOT EXISTS (SELECT 1 FROM reject r WHERE r.kind = $1 AND r.shop_id = $3 "
                "AND r.file = $4 AND r.line = s.line AND r.text = s.text "
                # Lines of which nothing is kept are told apart by their reasons.
                f"AND (s.text <> '{HIDDEN}' OR r.reason = s.reason)) ORDER BY s.line",
                self._kind.name,
                chunk.format,
                # Rows that name their shop have it, too: when they are tried again, they must be of the same.
                self._shop_id(chunk),
                self.file,
                now_micros(),
                self.import_id,
                int(chunk.textual),
            )
        self._own.shops |= shops
        names = ("read", "new", "duplicate", "replaced", "rejected", "incomplete")
        self._own.counts.update({name: getattr(tried, name) for name in names})
        imports.advance(self._connection, self._own)

    def _shop_id(self, chunk: Chunk) -> str:
        """The shop of a chunk's rows; "" if they name their own, of several."""
        return chunk.shop_id or self._shops.only


def _words(reason: Reason) -> str:
    return reason.words[:_MAX_REASON]

"""The rejects of one import of a file that are kept: the first ones. The others are counted.

A few bytes can unpack to millions of rejects, which would fill the disk.
"""

from collections.abc import Iterator
from operator import itemgetter
from typing import Final

import pyarrow as pa

from jobs.importing.files.chunk import HIDDEN, MAX_KEPT_REJECTS, Chunk
from jobs.importing.kinds.base import Kind
from jobs.importing.reject_text import kept_text
from jobs.importing.shops import SHOP_ID, ImportedShops
from jobs.importing.values.columns import ChunkColumns
from jobs.run.clock import now_micros
from warehouse.connections.arrow import ArrowConnection
from warehouse.operations import forgotten

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
    cell = columns.cells(SHOP_ID.name)[row]
    return shops.find(cell.as_py() if isinstance(cell, pa.Scalar) else cell)


class KeptRejects:
    """The rejects of a file that are kept, chunk by chunk in the file's order. Another import of the same
    file comes to the same rejects, and adds none."""

    def __init__(
        self,
        connection: ArrowConnection,
        kind: Kind,
        file: str,
        shops: ImportedShops,
        import_id: int,
    ) -> None:
        self._connection, self._kind, self.file, self._shops = connection, kind, file, shops
        self._import_id = import_id
        # The keys of the shops whose rows certainly were rejected.
        self.shops: set[int] = set()
        self._rows = self._size = 0
        self.not_kept = 0
        self._forget_number()
        connection.commit()

    def stage(self, columns: ChunkColumns) -> Rejects:
        """Stage those of a chunk's rejects that are to be kept: none that names a person whom the shop has
        forgotten. Returns their lines, reasons and texts."""
        persons = forgotten.remembered_by_shop(self._connection)
        rejects: Rejects = []
        shops: list[int] = []
        for line, reason, text, shop_key in self._first(columns):
            if self._size >= _MAX_TEXT:
                break
            # A row of no certain shop stays: it may be of another one than the person's.
            hashes = persons.get(shop_key, set())
            if hashes and forgotten.is_mentioned(columns.hasher, hashes, reason, text):
                continue
            rejects.append((line, reason[:_MAX_REASON], text))
            shops.append(shop_key)
            self._rows, self._size = self._rows + 1, self._size + len(text)
        self.shops.update(filter(None, shops))
        self.not_kept += columns.refused_rows() + len(columns.chunk.broken) - len(rejects)
        staged = list(rejects)
        if self.not_kept:
            number = f"not kept: {self.not_kept} more rejects of this file"
            staged.append((_NOT_KEPT_LINE, number, ""))
            shops.append(self._shops.find(columns.chunk.shop_id))
        rows = [(*reject, shop_key) for reject, shop_key in zip(staged, shops, strict=True)]
        names = ("line", "reason", "text", "shop_key")
        arrays = map(pa.array, zip(*rows, strict=True))
        self._connection.stage(_STAGED, pa.table(dict(zip(names, arrays, strict=True))))
        return rejects

    def _first(self, columns: ChunkColumns) -> Iterator[tuple[int, str, str, int]]:
        """Line, reason, text and shop of a chunk's first rejects, as many as can still be kept."""
        chunk, most = columns.chunk, MAX_KEPT_REJECTS - self._rows
        rejects: list[tuple[int, str, int | None, str]]
        rejects = [(int(chunk.lines[row]), why, row, "") for row, why in columns.refused()[:most]]
        rejects += [(line.line, line.reason, None, line.text) for line in chunk.broken[:most]]
        for line, reason, row, text in sorted(rejects, key=itemgetter(0))[:most]:
            text = text if row is None else chunk.text(row)
            kept = kept_text(text, self._kind, columns.hasher, mapped=bool(chunk.format))
            yield line, reason, kept, certain_shop(self._shops, self._kind, columns, row)

    def write(self, chunk: Chunk) -> None:
        """Write what is staged: the rejects, and how many are not kept. The caller commits."""
        if self.not_kept:
            self._forget_number()
        self._connection.execute(
            "INSERT INTO reject (kind, format, shop_id, file, line, reason, text, shop_key, rejected_at, "
            "import_id, is_textual) "
            f"SELECT $1, $2, $3, $4, s.line, s.reason, s.text, s.shop_key, $5, $6, $7 FROM {_STAGED} s "
            "WHERE NOT EXISTS (SELECT 1 FROM reject r WHERE r.kind = $1 AND r.shop_id = $3 "
            "AND r.file = $4 AND r.line = s.line AND r.text = s.text "
            # Lines of which nothing is kept are told apart by their reasons.
            f"AND (s.text <> '{HIDDEN}' OR r.reason = s.reason)) ORDER BY s.line",
            self._kind.name,
            chunk.format,
            chunk.shop_id,
            self.file,
            now_micros(),
            self._import_id,
            int(chunk.textual),
        )

    def _forget_number(self) -> None:
        self._connection.execute(
            "DELETE FROM reject WHERE kind = $1 AND file = $2 AND line = $3",
            self._kind.name,
            self.file,
            _NOT_KEPT_LINE,
        )

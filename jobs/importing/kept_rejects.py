"""The rejects of one import of a file that are kept: the first ones. The others are counted.

A few bytes can unpack to millions of rejects, which would fill the disk.
"""

from typing import Final

import pyarrow as pa

from jobs.importing.files.chunk import MAX_KEPT_REJECTS, Chunk
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


def certain_shop(shops: ImportedShops, kind: Kind, columns: ChunkColumns, row: int) -> int:
    """The key of the shop whose row it certainly is, 0 where that is not known; `row` is -1 for a line
    that could not be decoded.

    A file of another system is wholly of the shop that the import named. A row of this program is of the
    shop that it names: as a row that is accepted, it would be in that shop's figures. Shops themselves and
    exchange rates are of no shop.
    """
    if columns.chunk.format:
        return shops.find(columns.chunk.shop_id)
    if row < 0 or SHOP_ID not in kind.fields:
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
        chunk, persons = columns.chunk, forgotten.remembered_by_shop(self._connection)
        rejects: Rejects = []
        keys: list[int] = []
        if self._rows < MAX_KEPT_REJECTS and self._size < _MAX_TEXT:
            found = [(int(chunk.lines[row]), reason, row) for row, reason in columns.refused()]
            found += [(broken.line, broken.reason, -1 - i) for i, broken in enumerate(chunk.broken)]
            for line, reason, row in sorted(found):
                if self._rows == MAX_KEPT_REJECTS or self._size >= _MAX_TEXT:
                    break
                text = chunk.text(row) if row >= 0 else chunk.broken[-1 - row].text
                text = kept_text(text, self._kind, columns.hasher, mapped=bool(chunk.format))
                shop_key = certain_shop(self._shops, self._kind, columns, max(row, -1))
                # A row of no certain shop stays: it may be of another one than the person's.
                hashes = persons.get(shop_key, set())
                if hashes and forgotten.is_mentioned(columns.hasher, hashes, reason, text):
                    continue
                rejects.append((line, reason[:_MAX_REASON], text))
                keys.append(shop_key)
                self._rows, self._size = self._rows + 1, self._size + len(text)
        self.shops.update(key for key in keys if key)
        self.not_kept += columns.refused_rows() + len(chunk.broken) - len(rejects)
        if rejects:
            lines, reasons, texts = zip(*rejects, strict=True)
            staged = {
                "line": pa.array(lines, pa.int64()),
                "reason": pa.array(reasons, pa.string()),
                "text": pa.array(texts, pa.string()),
                "shop_key": pa.array(keys, pa.int64()),
            }
            self._connection.stage(_STAGED, pa.table(staged))
        return rejects

    def write(self, chunk: Chunk, *, staged: bool) -> None:
        """Write the staged rejects, and how many are not kept. The caller commits."""
        own = (self._kind.name, chunk.format, chunk.shop_id, self.file)
        if staged:
            self._connection.execute(
                "INSERT INTO reject "
                "(kind, format, shop_id, file, line, reason, text, shop_key, rejected_at, import_id) "
                "SELECT $1, $2, $3, $4, s.line, s.reason, s.text, s.shop_key, $5, $6 "
                f"FROM {_STAGED} s "
                "WHERE NOT EXISTS (SELECT 1 FROM reject r WHERE r.kind = $1 AND r.shop_id = $3 "
                "AND r.file = $4 AND r.line = s.line AND r.text = s.text) ORDER BY s.line",
                *own,
                now_micros(),
                self._import_id,
            )
        if self.not_kept:
            self._forget_number()
            self._connection.execute(
                "INSERT INTO reject "
                "(kind, format, shop_id, file, line, reason, text, shop_key, rejected_at, import_id) "
                "VALUES ($1, $2, $3, $4, $5, $6, '', $7, $8, $9)",
                *own,
                _NOT_KEPT_LINE,
                f"not kept: {self.not_kept} more rejects of this file",
                self._shops.find(chunk.shop_id),
                now_micros(),
                self._import_id,
            )

    def _forget_number(self) -> None:
        self._connection.execute(
            "DELETE FROM reject WHERE kind = $1 AND file = $2 AND line = $3",
            self._kind.name,
            self.file,
            _NOT_KEPT_LINE,
        )

"""Kinds whose rows stand until a later import replaces them: all but events and orders.

Rows are compared with the stored ones and written in one transaction, under a lock that keeps out
other imports of the kind (not readers), so that the counts are exact. The database compares: unchanged
rows are not read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
from sqlalchemy import Table

from jobs.importing.kinds import versions
from jobs.importing.kinds.base import Kind, Written
from jobs.importing.kinds.versions import STAGED, TakenBack, same_key
from jobs.importing.shops import SHOP_ID, ImportedShops
from jobs.importing.values.columns import ChunkColumns
from jobs.importing.values.fields import Field
from jobs.run.clock import now_micros
from warehouse.connections.arrow import ArrowConnection, names, schema_of
from warehouse.editions.data_version import next_version


@dataclass(frozen=True)
class Upsert:
    """How rows of one table are replaced.

    `columns`: those of the rows, the first `keys` of them the key. `touched`: the shops whose answers
    the staged rows change, as a condition on `shop`.
    """

    table: Table
    columns: tuple[str, ...]
    keys: int
    touched: str = f"shop_key IN (SELECT shop_key FROM {STAGED})"

    @property
    def key(self) -> tuple[str, ...]:
        return self.columns[: self.keys]

    @property
    def values(self) -> tuple[str, ...]:
        return self.columns[self.keys :]

    @property
    def schema(self) -> pa.Schema:
        return schema_of(self.table, self.columns)

    @property
    def joined(self) -> str:
        """The staged rows `k` with the stored rows `t` of the same key."""
        same = same_key(self.key, "t", "k")
        return f"FROM {STAGED} k CROSS JOIN {self.table.name} t WHERE {same}"


class ReplaceLast(Kind):
    """A kind whose rows are replaced by later imports of the same key.

    `row_fields`: the fields in the order of the upsert's columns. If the rows belong to a shop
    (`needs_shop`), the shop's key is the first column.
    """

    upsert: ClassVar[Upsert]
    needs_shop: ClassVar[bool] = True

    @classmethod
    def row_fields(cls) -> Sequence[Field]:
        return [field for field in cls.fields if not (cls.needs_shop and field is SHOP_ID)]

    def check(self, columns: ChunkColumns, shops: ImportedShops) -> pa.Table:
        """The columns of the upsert's rows."""
        read = [columns.read(shops.key_field())] if self.needs_shop else []
        read += [columns.read(field) for field in self.row_fields()]
        return pa.table(self.arrange(read), self.upsert.schema)

    def arrange(self, columns: list[pa.Array]) -> list[pa.Array]:
        """The columns that were read as the columns of the rows."""
        return columns

    def write(self, connection: ArrowConnection, rows: pa.Table, import_id: int) -> Written:
        """Compare the rows with the stored ones, and replace those that they change."""
        return last_wins(connection, self.upsert, rows, import_id)

    def take_back(self, connection: ArrowConnection, import_id: int) -> TakenBack:
        """Have the rows stand that would if an import had never come. The caller commits."""
        return versions.take_back(connection, self.upsert, import_id)


def last_wins(
    connection: ArrowConnection, upsert: Upsert, rows: pa.Table, import_id: int
) -> Written:
    """Write the rows that change something; of those that share a key, the last."""
    connection.lock_table(upsert.table.name)  # one at a time compares and writes
    last, before = _last_of_each_key(upsert, rows)
    staged = rows.take(pa.array(last)).append_column("place", pa.array(np.arange(len(last))))
    connection.stage(STAGED, staged)
    versions.keep(connection, upsert, import_id)
    same = " AND ".join(f't."{name}" = k."{name}"' for name in upsert.values)
    stored = connection.table(
        f"SELECT k.place, CASE WHEN {same} THEN 1 ELSE 0 END AS same {upsert.joined}"
    )
    places = np.array(stored["place"].to_pylist(), dtype=np.int64)
    is_same = np.array(stored["same"].to_pylist(), dtype=bool)
    became = np.full(len(last), _NEW)
    became[places] = np.where(is_same, _DUPLICATE, _REPLACED)
    if is_same.any():
        connection.stage(STAGED, staged.filter(pa.array(became != _DUPLICATE)))
    if not is_same.all() or len(stored) < len(last):
        write(connection, upsert, replaces=len(stored) > 0)
    written = Written(*np.bincount(became, minlength=3).tolist())
    _count_superseded(rows, last, before, became, written)
    return written


_NEW, _DUPLICATE, _REPLACED = range(3)


def _last_of_each_key(upsert: Upsert, rows: pa.Table) -> tuple[list[int], list[tuple[int, int]]]:
    """The positions of the rows that are the last of their key, in order; and (row, next row) for each
    row that another one of the same key follows."""
    last: dict[tuple[object, ...], int] = {}
    before: list[tuple[int, int]] = []
    for place, key in enumerate(zip(*(rows[name].to_pylist() for name in upsert.key), strict=True)):
        if key in last:
            before.append((last[key], place))
        last[key] = place
    return sorted(last.values()), before


def _count_superseded(
    rows: pa.Table,
    last: list[int],
    before: list[tuple[int, int]],
    became: np.ndarray,
    written: Written,
) -> None:
    """Count the rows that another one of the chunk follows: as replaced if that one differs, but as
    duplicates if the last one changes nothing."""
    final = dict(zip(last, became.tolist(), strict=True))
    for place, following in reversed(before):
        final[place] = final[following]
        if final[place] == _DUPLICATE or _row(rows, place) == _row(rows, following):
            written.duplicate += 1
        else:
            written.replaced += 1


def _row(rows: pa.Table, place: int) -> list[object]:
    return [column[place].as_py() for column in rows.columns]


def write(connection: ArrowConnection, upsert: Upsert, *, replaces: bool) -> None:
    """Write the staged rows over those with the same keys, if there are any, and raise the data version
    of the shops whose answers change."""
    connection.lock_rows("shop", "shop_key", upsert.touched)
    changes = ", ".join(f'"{name}" = excluded."{name}"' for name in upsert.values)
    conflict = f"ON CONFLICT ({names(upsert.key)}) DO UPDATE SET {changes}" if replaces else ""
    connection.execute(
        f"INSERT INTO {upsert.table.name} ({names(upsert.columns)}) "
        f"SELECT {names(upsert.columns)} FROM {STAGED} WHERE true {conflict}"
    )
    connection.execute(f"UPDATE shop SET {next_version(now_micros())} WHERE {upsert.touched}")

"""Rows that stand until a later import replaces them: compared with what is stored, then written.

All in one transaction, under a lock that keeps other imports of the kind (not readers) out, so that
what is counted is what happened. The database compares: what stays as it is does not travel.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from jobs.clock import now_micros
from jobs.importing.kind import Written
from warehouse.bulk import Bulk, names
from warehouse.columns import Table
from warehouse.versions import moved

STAGED = "staged_rows"


@dataclass(frozen=True)
class Upsert:
    """How rows of one table are replaced.

    `columns`: those of the rows, the first `keys` of them the key. `touched`: which shops' answers
    a change of the staged rows moves, as a condition on `shop`.
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
        return pa.schema(
            [
                (name, pa.string() if name in self.table.texts else pa.int64())
                for name in self.columns
            ]
        )

    @property
    def joined(self) -> str:
        """The staged rows `k` with the stored rows `t` of the same key."""
        same = " AND ".join(f't."{name}" = k."{name}"' for name in self.key)
        return f"FROM {STAGED} k CROSS JOIN {self.table.name} t WHERE {same}"


def lock(bulk: Bulk, table: Table) -> None:
    """Begin a transaction that compares and writes: one at a time for a table."""
    if bulk.sqlite:
        # A transaction that has read can no longer become the writer once another has written.
        bulk.execute("UPDATE shop SET edition = edition WHERE shop_key = 0")
    else:
        bulk.execute(f"LOCK TABLE {table.name} IN SHARE ROW EXCLUSIVE MODE")


def last_wins(bulk: Bulk, way: Upsert, rows: pa.Table) -> Written:
    """Write the rows that change something; of those that share a key, the last."""
    lock(bulk, way.table)
    last, before = _last_of_each_key(way, rows)
    staged = rows.take(pa.array(last)).append_column("place", pa.array(np.arange(len(last))))
    bulk.stage(STAGED, staged)
    same = " AND ".join(f't."{name}" = k."{name}"' for name in way.values)
    found = bulk.table(f"SELECT k.place, CASE WHEN {same} THEN 1 ELSE 0 END AS same {way.joined}")
    places = np.array(found["place"].to_pylist(), dtype=np.int64)
    is_same = np.array(found["same"].to_pylist(), dtype=bool)
    became = np.full(len(last), _NEW)
    became[places] = np.where(is_same, _DUPLICATE, _REPLACED)
    if is_same.any():
        bulk.stage(STAGED, staged.filter(pa.array(became != _DUPLICATE)))
    if not is_same.all() or len(found) < len(last):
        write(bulk, way, replaces=len(found) > 0)
    written = Written(*np.bincount(became, minlength=3).tolist())
    _count_superseded(rows, last, before, became, written)
    return written


_NEW, _DUPLICATE, _REPLACED = range(3)


def _last_of_each_key(way: Upsert, rows: pa.Table) -> tuple[list[int], list[tuple[int, int]]]:
    """Positions of the rows that are the last of their key, in order; and of each row before
    another of the same key, with the position of that next one."""
    last: dict[tuple[object, ...], int] = {}
    before: list[tuple[int, int]] = []
    for place, key in enumerate(zip(*(rows[name].to_pylist() for name in way.key), strict=True)):
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
    """Count the rows that another one of the portion follows: as replaced where that one is
    different, but as duplicates where the last one changes nothing."""
    final = dict(zip(last, became.tolist(), strict=True))
    for place, following in reversed(before):
        final[place] = final[following]
        if final[place] == _DUPLICATE or _row(rows, place) == _row(rows, following):
            written.duplicate += 1
        else:
            written.replaced += 1


def _row(rows: pa.Table, place: int) -> list[object]:
    return [column[place].as_py() for column in rows.columns]


def write(bulk: Bulk, way: Upsert, *, replaces: bool) -> None:
    """Put the staged rows in the place of those with their keys, if there are any, and move the data
    version of the shops whose answers they touch."""
    if not bulk.sqlite:
        # In one order everywhere, or two transactions could wait for each other.
        bulk.table(f"SELECT shop_key FROM shop WHERE {way.touched} ORDER BY shop_key FOR UPDATE")
    changes = ", ".join(f'"{name}" = excluded."{name}"' for name in way.values)
    conflict = f"ON CONFLICT ({names(way.key)}) DO UPDATE SET {changes}" if replaces else ""
    bulk.execute(
        f"INSERT INTO {way.table.name} ({names(way.columns)}) "
        f"SELECT {names(way.columns)} FROM {STAGED} WHERE true {conflict}"
    )
    bulk.execute(f"UPDATE shop SET {moved(now_micros())} WHERE {way.touched}")

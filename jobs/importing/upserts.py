"""Rows that stand until a later import replaces them: compared with what is stored, then written.

All in the caller's transaction, under a lock that keeps other imports of the kind (not readers) out,
so that what is counted is what happened.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pyarrow as pa
from sqlalchemy import Table, Text

from warehouse.bulk import Bulk, names

Row = tuple[Any, ...]


class Outcome(Enum):
    """What became of a row."""

    NEW = "new"
    DUPLICATE = "duplicate"
    REPLACED = "replaced"


Settle = Callable[[Row | None, Row | None, Row], Row]
"""The row that stands, of: the one stored before this portion, the one standing now, the next one."""


def last_wins(_stored: Row | None, _standing: Row | None, row: Row) -> Row:
    """The next row, whatever was there."""
    return row


@dataclass(frozen=True)
class Upsert:
    """How rows of one table are replaced.

    `columns`: those of the rows, the first `keys` of them the key. `touched`: which shops' answers
    a change of the rows in `{staged}` moves, as a condition on `shop`.
    """

    table: Table
    columns: tuple[str, ...]
    keys: int
    touched: str = "shop_key IN (SELECT shop_key FROM {staged})"
    settle: Settle = last_wins


def schema_of(way: Upsert) -> pa.Schema:
    """The Arrow schema of the rows."""
    kinds = {column.name: column.type for column in way.table.columns}
    return pa.schema(
        [
            (name, pa.string() if isinstance(kinds[name], Text) else pa.int64())
            for name in way.columns
        ]
    )


def lock(bulk: Bulk, table: Table) -> None:
    """Begin a transaction that compares and writes: one at a time for a table."""
    if bulk.sqlite:
        # A transaction that has read can no longer become the writer once another has written.
        bulk.execute("UPDATE shop SET edition = edition WHERE shop_key = 0")
    else:
        bulk.execute(f"LOCK TABLE {table.name} IN SHARE ROW EXCLUSIVE MODE")


def upsert(bulk: Bulk, way: Upsert, rows: Sequence[Row]) -> list[Outcome]:
    """Write what changes, and say of each row what became of it. `lock` comes before, and the
    commit after."""
    if not rows:
        return []
    stored = _stored(bulk, way, rows)
    standing, afterwards = dict(stored), []
    for row in rows:
        key = row[: way.keys]
        old = standing.get(key)
        new = way.settle(stored.get(key), old, row)
        standing[key] = new
        afterwards.append((key, old, new))
    changed = [row for key, row in standing.items() if stored.get(key) != row]
    _write(bulk, way, sorted(changed))
    unchanged = {key for key, row in stored.items() if standing[key] == row}
    return [
        Outcome.NEW if old is None
        # A row that a later one of the same portion takes back changes nothing.
        else Outcome.DUPLICATE if new == old or key in unchanged
        else Outcome.REPLACED
        for key, old, new in afterwards
    ]


def _stored(bulk: Bulk, way: Upsert, rows: Sequence[Row]) -> dict[Row, Row]:
    keys = sorted({row[: way.keys] for row in rows})
    of_key = way.columns[: way.keys]
    staged = bulk.stage("staged_keys", _arrow(pa.schema(list(schema_of(way))[: way.keys]), keys))
    same = " AND ".join(f't."{name}" = k."{name}"' for name in of_key)
    found = bulk.rows_of(
        way.table,
        f"SELECT {names(way.columns, 't.')} FROM {staged} k CROSS JOIN {way.table.name} t "
        f"WHERE {same}",
    )
    columns = [column.to_pylist() for column in found.columns]
    return {row[: way.keys]: row for row in zip(*columns, strict=True)}


def _write(bulk: Bulk, way: Upsert, rows: list[Row]) -> None:
    if not rows:
        return
    staged = bulk.stage("staged_rows", _arrow(schema_of(way), rows))
    touched = way.touched.format(staged=staged)
    if not bulk.sqlite:
        # In one order everywhere, or two transactions could wait for each other.
        bulk.table(f"SELECT shop_key FROM shop WHERE {touched} ORDER BY shop_key FOR UPDATE")
    key = list(way.columns[: way.keys])
    values = ", ".join(f'"{name}" = excluded."{name}"' for name in way.columns[way.keys :])
    bulk.execute(
        f"INSERT INTO {way.table.name} ({names(way.columns)}) "
        f"SELECT {names(way.columns)} FROM {staged} WHERE true "
        f"ON CONFLICT ({names(key)}) DO UPDATE SET {values}"
    )
    bulk.execute(f"UPDATE shop SET data_version = data_version + 1 WHERE {touched}")


def _arrow(schema: pa.Schema, rows: Sequence[Row]) -> pa.Table:
    columns = zip(*rows, strict=True)
    return pa.table(
        [pa.array(column, kind.type) for column, kind in zip(columns, schema, strict=True)], schema
    )

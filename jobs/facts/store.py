"""Facts out of the warehouse by sets of keys, and back into it."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa

from jobs.codes import Column
from jobs.columns import Source, size, take
from warehouse.bulk import Bulk, names, schema_of
from warehouse.columns import Table


def arrow(rows: Source, columns: Sequence[str]) -> pa.Table:
    """These columns for the warehouse: texts as plain strings, numbers as they are."""
    return pa.table({name: _array(rows[name]) for name in columns})


def _array(column: pd.Series | Column) -> pa.Array:
    if isinstance(column, pd.Series) and column.dtype != np.int64:
        array = pa.array(column.array)
        return array.cast(pa.string()) if pa.types.is_large_string(array.type) else array
    return pa.array(np.asarray(column))


def load(
    bulk: Bulk,
    table: Table,
    keys: Source,
    condition: str = "true",
    columns: Sequence[str] | None = None,
) -> pd.DataFrame:
    """The table's rows whose columns equal a row of `keys` (its columns are the table's, and any
    others that `condition` mentions as `k.name`; the row itself is `f`)."""
    columns = columns or table.names
    named = list(keys)
    possible = bulk.absent.possible(table, keys)
    if possible is not None:
        keys = take(keys, possible, named)
    if not size(keys):
        return no_rows(table, columns)
    staged = bulk.stage("staged_facts", arrow(_in_order(keys, named), named))
    same = " AND ".join(f'f."{name}" = k."{name}"' for name in named if name in table.names)
    # A database uses a partial index only where the question says what the index leaves out.
    same += "".join(f' AND f."{name}" <> 0' for name in _partial(table) if name in named)
    rows = bulk.rows_of(
        table,
        f"SELECT {names(columns, 'f.')} FROM {staged} k CROSS JOIN {table.name} f "
        f"WHERE {same} AND {condition}",
    )
    return rows.to_pandas() if rows.num_rows else no_rows(table, columns)


def _in_order(keys: Source, named: Sequence[str]) -> Source:
    """Keys in the order in which an index has them, where it is found faster than from place to place."""
    rows = {name: np.asarray(keys[name]) for name in named}
    order = np.lexsort((rows[named[1]], rows[named[0]])) if len(named) > 1 else slice(None)
    return {name: column[order] for name, column in rows.items()}


def no_rows(table: Table, columns: Sequence[str]) -> pd.DataFrame:
    """A frame of these columns without rows, in the types in which rows come."""
    return _no_rows(table, tuple(columns)).copy()


@cache
def _no_rows(table: Table, columns: tuple[str, ...]) -> pd.DataFrame:
    return schema_of(table, columns).empty_table().to_pandas()


@cache
def _partial(table: Table) -> list[str]:
    return [index.columns[-1] for index in table.indexes if index.where]


def save(bulk: Bulk, table: Table, gone: pd.DataFrame, rows: pd.DataFrame) -> None:
    """Delete the rows that share the key columns of `gone`, then append `rows`."""
    if not gone.empty:
        key = names(list(gone.columns))
        staged = bulk.stage("staged_gone", arrow(gone.drop_duplicates(), list(gone.columns)))
        bulk.execute(f"DELETE FROM {table.name} WHERE ({key}) IN (SELECT {key} FROM {staged})")
    if not rows.empty:
        bulk.absent.note(table, rows)
        rows = rows.reset_index(drop=True).sort_values(list(table.key))
        bulk.append(table.name, arrow(rows, table.names))


def update(bulk: Bulk, table: Table, rows: Source, columns: Sequence[str]) -> None:
    """Set these columns of the stored rows that have the primary keys of `rows`."""
    key = list(table.key)
    if not size(rows):
        return
    bulk.absent.note(table, rows)
    staged = bulk.stage("staged_update", arrow(rows, [*key, *columns]))
    new = ", ".join(f'"{name}" = k."{name}"' for name in columns)
    same = " AND ".join(f'{table.name}."{name}" = k."{name}"' for name in key)
    bulk.execute(f"UPDATE {table.name} SET {new} FROM {staged} k WHERE {same}")


def learn(bulk: Bulk, table: Table, rows: pd.DataFrame) -> None:
    """Append the rows of a dimension whose key is not there yet."""
    if rows.empty:
        return
    columns = table.names
    staged = bulk.stage("staged_words", arrow(rows, columns))
    bulk.execute(
        f"INSERT INTO {table.name} ({names(columns)}) SELECT {names(columns)} FROM {staged} "
        "WHERE true ON CONFLICT DO NOTHING"
    )

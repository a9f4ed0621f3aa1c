"""Facts out of the warehouse by sets of keys, and back into it."""

import pandas as pd
import pyarrow as pa
from sqlalchemy import Table, Text

from warehouse.bulk import Bulk, names

_NO_NUMBERS = pd.Series([], dtype="int64")
_NO_TEXTS = pd.Series([], dtype="str")


def columns_of(table: Table) -> list[str]:
    return [column.name for column in table.columns]


def arrow(frame: pd.DataFrame, columns: list[str]) -> pa.Table:
    """A frame's columns for the warehouse: texts as plain strings, numbers as they are."""
    arrays = {}
    for name in columns:
        array = pa.array(frame[name].array)
        if pa.types.is_large_string(array.type):
            array = array.cast(pa.string())
        arrays[name] = array
    return pa.table(arrays)


def load(
    bulk: Bulk,
    table: Table,
    keys: pd.DataFrame,
    condition: str = "true",
    columns: list[str] | None = None,
) -> pd.DataFrame:
    """The table's rows whose columns equal a row of `keys` (its columns are the table's, and any
    others that `condition` mentions as `k.name`; the row itself is `f`)."""
    known = columns_of(table)
    columns = columns or known
    if keys.empty:
        return no_rows(table, columns)
    staged = bulk.stage("staged_facts", arrow(keys, list(keys.columns)))
    same = " AND ".join(f'f."{name}" = k."{name}"' for name in keys.columns if name in known)
    # A database uses a partial index only where the question says what the index leaves out.
    same += "".join(f' AND f."{name}" <> 0' for name in _partial(table) if name in keys.columns)
    return bulk.rows_of(
        table,
        f"SELECT {names(columns, 'f.')} FROM {staged} k CROSS JOIN {table.name} f "
        f"WHERE {same} AND {condition}",
    ).to_pandas()


def no_rows(table: Table, columns: list[str]) -> pd.DataFrame:
    """A frame of these columns without rows, in the types in which rows come."""
    kinds = {column.name: column.type for column in table.columns}
    return pd.DataFrame(
        {name: _NO_TEXTS if isinstance(kinds[name], Text) else _NO_NUMBERS for name in columns}
    )


def _partial(table: Table) -> list[str]:
    return [
        index.columns[1].name
        for index in table.indexes
        if index.dialect_options["sqlite"]["where"] is not None
    ]


def save(bulk: Bulk, table: Table, gone: pd.DataFrame, rows: pd.DataFrame) -> None:
    """Delete the rows that share the key columns of `gone`, then append `rows`."""
    if not gone.empty:
        key = names(list(gone.columns))
        staged = bulk.stage("staged_gone", arrow(gone.drop_duplicates(), list(gone.columns)))
        bulk.execute(f"DELETE FROM {table.name} WHERE ({key}) IN (SELECT {key} FROM {staged})")
    if not rows.empty:
        key_columns = [column.name for column in table.primary_key.columns]
        rows = rows.reset_index(drop=True).sort_values(key_columns)
        bulk.append(table.name, arrow(rows, columns_of(table)))


def learn(bulk: Bulk, table: Table, rows: pd.DataFrame) -> None:
    """Append the rows of a dimension whose key is not there yet."""
    if rows.empty:
        return
    columns = columns_of(table)
    staged = bulk.stage("staged_words", arrow(rows, columns))
    bulk.execute(
        f"INSERT INTO {table.name} ({names(columns)}) SELECT {names(columns)} FROM {staged} "
        "WHERE true ON CONFLICT DO NOTHING"
    )

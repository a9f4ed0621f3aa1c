"""Facts out of the warehouse by sets of keys, and back into it."""

import pandas as pd
import pyarrow as pa
from sqlalchemy import Table

from warehouse.bulk import Bulk, names


def columns_of(table: Table) -> list[str]:
    return [column.name for column in table.columns]


def arrow(frame: pd.DataFrame, columns: list[str]) -> pa.Table:
    """A frame's columns for the warehouse: texts as plain strings, numbers as they are."""
    table = pa.Table.from_pandas(frame[columns], preserve_index=False)
    fields = [
        pa.field(field.name, pa.string() if pa.types.is_large_string(field.type) else field.type)
        for field in table.schema
    ]
    return table.cast(pa.schema(fields)).replace_schema_metadata(None)


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
        empty = f"SELECT {names(columns)} FROM {table.name} WHERE false"
        return bulk.rows_of(table, empty).to_pandas()
    staged = bulk.stage("staged_facts", arrow(keys, list(keys.columns)))
    same = " AND ".join(f'f."{name}" = k."{name}"' for name in keys.columns if name in known)
    # A database uses a partial index only where the question says what the index leaves out.
    same += "".join(f' AND f."{name}" <> 0' for name in _partial(table) if name in keys.columns)
    return bulk.rows_of(
        table,
        f"SELECT {names(columns, 'f.')} FROM {staged} k CROSS JOIN {table.name} f "
        f"WHERE {same} AND {condition}",
    ).to_pandas()


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

"""Facts in the warehouse: read by sets of keys, and written where they changed."""

from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from sqlalchemy import Table

from jobs.arrays.columns import Columns, row_count
from jobs.arrays.group_keys import Column, except_ids
from jobs.facts.changes import (
    ORDER,
    ORDER_DERIVED,
    SESSION,
    SESSION_DERIVED,
    Changes,
    by_id,
)
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection, names, schema_of
from warehouse.editions.editions import SESSION_BITS
from warehouse.editions.pending_batches import sql_list
from warehouse.tables.base import column_names, key_names, partially_indexed

# To stage so many keys takes longer than to ask whether there is anything to look up.
_MANY_KEYS: Final = 1_000


def to_arrow(rows: Columns, columns: Sequence[str]) -> pa.Table:
    """These columns as an Arrow table, texts as plain strings."""
    return pa.table({name: _array(rows[name]) for name in columns})


def _array(column: pd.Series | Column) -> pa.Array:
    if isinstance(column, pd.Series) and column.dtype != np.int64:
        array = pa.array(column.array)
        return array.cast(pa.string()) if pa.types.is_large_string(array.type) else array
    return pa.array(np.asarray(column))


def load(
    connection: ArrowConnection,
    table: Table,
    keys: Columns,
    condition: str = "true",
    columns: Sequence[str] | None = None,
    equal: Collection[str] | None = None,
) -> pd.DataFrame:
    """The table's rows (`f`) that equal a row of `keys` (`k`) in the columns that both have, or in those
    that are given (`equal`).

    Other columns of `keys` can be used in `condition`. A row that equals several keys comes as often.
    """
    columns = columns or column_names(table)
    if not row_count(keys) or _is_empty(connection, table, keys):
        return no_rows(table, columns)
    key = list(keys)
    rows = {name: np.asarray(keys[name]) for name in key}
    # In the order of an index on them: neighbours in it are read together.
    order = np.lexsort((rows[key[1]], rows[key[0]])) if len(key) > 1 else slice(None)
    in_order = {name: column[order] for name, column in rows.items()}
    staged = connection.stage("staged_facts", to_arrow(in_order, key))
    compared = [name for name in key if name in (table.c if equal is None else equal)]
    same = " AND ".join(f'f."{name}" = k."{name}"' for name in compared)
    # A database uses a partial index only where the query repeats the index's condition.
    same += "".join(
        f' AND f."{name}" <> 0' for name in partially_indexed(table) if name in compared
    )
    found = connection.rows_of(
        table,
        f"SELECT {names(columns, 'f.')} FROM {staged} k CROSS JOIN {table.name} f "
        f"WHERE {same} AND {condition}",
    )
    # Most look-ups find few rows: to share them among threads takes longer than to convert them.
    return found.to_pandas(use_threads=False) if found.num_rows else no_rows(table, columns)


def _is_empty(connection: ArrowConnection, table: Table, keys: Columns) -> bool:
    """Whether the table has no row of the editions of many keys, as in a first rollup."""
    if row_count(keys) < _MANY_KEYS:
        return False
    editions = sql_list(np.unique(keys["edition"]).tolist())
    found = f"SELECT 1 FROM {table.name} WHERE edition IN ({editions}) LIMIT 1"
    return connection.value(found) is None


def key_columns(rows: Columns, *names: str) -> dict[str, Column]:
    """`edition` and these columns, as arrays."""
    return {name: np.asarray(rows[name]) for name in ("edition", *names)}


def load_sessions(
    connection: ArrowConnection,
    keys: Columns,
    condition: str = "true",
    equal: Collection[str] | None = None,
) -> pd.DataFrame:
    """Load sessions, by session id: the columns SESSION. See `load`."""
    rows = load(connection, tables.fact_form_session, keys, condition, SESSION, equal)
    return by_id(rows, "session")


def load_orders(
    connection: ArrowConnection, keys: Columns, condition: str = "true"
) -> pd.DataFrame:
    """Load orders, by order id: the columns ORDER. See `load`."""
    return by_id(load(connection, tables.fact_order, keys, condition, ORDER), "order")


def read_issues(connection: ArrowConnection, changes: Changes, sessions: pd.DataFrame) -> None:
    """Read the codes that these sessions, which are not touched, were issued, into the changes."""
    rows = load(connection, tables.fact_code_issued, key_columns(sessions, "session"))
    changes.issues = changes.issues.stacked(rows, rows)


def read_order_codes(connection: ArrowConnection, changes: Changes, orders: pd.DataFrame) -> None:
    """Read the codes that these stored orders used into the changes: the touched ones before the change
    alone."""
    rows = load(connection, tables.fact_order_code, key_columns(orders, "order"))
    is_touched = rows["order"].isin(changes.partials.orders["order"])
    changes.order_codes = changes.order_codes.stacked(rows, rows[~is_touched])


def stage_ids(connection: ArrowConnection, name: str, ids: Column) -> None:
    """Stage ids (`id`) that statements look up by an index (`is_staged`)."""
    connection.stage(name, pa.table({"id": ids}))
    connection.execute(f"CREATE INDEX {name}_id ON {name} (id)")


def is_staged(name: str, id: str) -> str:
    """The SQL condition that an id is staged under a name."""
    return f"EXISTS (SELECT 1 FROM {name} i WHERE i.id = {id})"


def no_rows(table: Table, columns: Sequence[str]) -> pd.DataFrame:
    """A frame of these columns without rows, in the types in which rows come."""
    return _no_rows(table, tuple(columns)).copy()


@cache
def _no_rows(table: Table, columns: tuple[str, ...]) -> pd.DataFrame:
    return schema_of(table, columns).empty_table().to_pandas()


def replace(
    connection: ArrowConnection, table: Table, old_keys: pd.DataFrame, rows: pd.DataFrame
) -> None:
    """Delete the rows that have one of the old keys (some columns of the table), then append rows."""
    if not old_keys.empty:
        old_key = names(list(old_keys.columns))
        staged = connection.stage("staged_keys", to_arrow(old_keys, list(old_keys.columns)))
        connection.execute(
            f"DELETE FROM {table.name} WHERE ({old_key}) IN (SELECT {old_key} FROM {staged})"
        )
    if not rows.empty:
        key = [(name, "ascending") for name in key_names(table)]
        connection.append(table.name, to_arrow(rows, column_names(table)).sort_by(key))


def update(
    connection: ArrowConnection, table: Table, rows: Columns, columns: Sequence[str]
) -> None:
    """Set these columns of the stored rows that have the primary keys of `rows`."""
    if not row_count(rows):
        return
    key = list(key_names(table))
    staged = connection.stage("staged_update", to_arrow(rows, [*key, *columns]))
    new = ", ".join(f'"{name}" = k."{name}"' for name in columns)
    same = " AND ".join(f'{table.name}."{name}" = k."{name}"' for name in key)
    connection.execute(f"UPDATE {table.name} SET {new} FROM {staged} k WHERE {same}")


def append_missing(
    connection: ArrowConnection, table: Table, rows: pd.DataFrame, empty: Collection[int]
) -> None:
    """Append the rows of a dimension whose key is not stored yet. `empty`: editions that have none."""
    is_new = rows["edition"].isin(empty)
    connection.append(table.name, to_arrow(rows[is_new], column_names(table)))
    if is_new.all():
        return
    columns = names(column_names(table))
    staged = connection.stage("staged_rows", to_arrow(rows[~is_new], column_names(table)))
    connection.execute(
        f"INSERT INTO {table.name} ({columns}) SELECT {columns} FROM {staged} "
        "WHERE true ON CONFLICT DO NOTHING"
    )


class Replacement(NamedTuple):
    """Rows of a table that take the place of those stored under some keys (some columns of the table)."""

    table: Table
    keys: pd.DataFrame
    rows: pd.DataFrame


def replacements(changes: Changes) -> Iterator[Replacement]:
    """Rows that changes replace and that were not read whole (`Changes.whole` has the others): those of the
    touched orders and of the codes that are named. An order without a new version goes."""
    orders = changes.orders.of(changes.touched_orders)
    new = pd.concat([orders.new, changes.standing_orders[["order_id"]]], axis="columns")
    yield Replacement(tables.fact_order, orders.old[["edition", "order"]], new)
    usage = changes.code_usage
    yield Replacement(tables.code_usage, usage.codes, usage.counts)
    yield Replacement(tables.dim_discount_code, usage.codes, usage.discounts)


def updates(changes: Changes) -> Iterator[tuple[Table, pd.DataFrame, list[str]]]:
    """The other rows that change: table, rows, and the derived columns that are written."""
    others = except_ids(changes.changed_sessions, changes.touched)
    yield tables.fact_form_session, changes.sessions.of(others).new, SESSION_DERIVED
    others = except_ids(changes.changed_orders, changes.touched_orders)
    yield tables.fact_order, changes.orders.of(others).new, ORDER_DERIVED


def texts(changes: Changes) -> Iterator[tuple[Table, pd.DataFrame]]:
    """The rows of dimensions that must be stored, or are already."""
    yield tables.dim_text, changes.texts
    yield tables.dim_utm, changes.partials.utms


def write_changes(
    connection: ArrowConnection, changes: Changes, empty: Collection[int] = ()
) -> None:
    """Put the new version of all changed facts in the place of the old one. `empty`: editions that have no
    facts."""
    for table, rows in changes.differing.items():
        old = rows.old if rows.old.empty else rows.old[list(key_names(table))]
        replace(connection, table, old, rows.new)
    for one in replacements(changes):
        replace(connection, *one)
    batch = changes.sessions.of(changes.touched)
    # The number after the greatest of the new sessions, by edition.
    new = except_ids(batch.new.index.to_numpy(), batch.old.index.to_numpy())
    editions, numbers = np.divmod(new, 1 << SESSION_BITS)
    last = np.flatnonzero(np.diff(editions, append=-1))
    following = {"edition": editions[last], "next_session": numbers[last] + 1}
    update(connection, tables.edition, following, ["next_session"])
    for table, others, columns in updates(changes):
        update(connection, table, others, columns)
    for table, named in texts(changes):
        append_missing(connection, table, named, empty)

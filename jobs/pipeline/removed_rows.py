"""The rows of a portion that is removed, staged in `removed_event` and `removed_order`."""

from collections.abc import Iterable
from typing import Final

import pyarrow as pa
from sqlalchemy import Table

from jobs.facts import touched
from jobs.pipeline import batching
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection, names
from warehouse.editions.pending_batches import sql_list

# A portion has so many times fewer raw rows than a group of batches: the transaction that deletes them keeps
# others from writing. A purge keeps one cell of a portion.
_PORTION_FRACTION: Final = 4

_EVENT: Final = ("shop_key", "event_id")
_ORDER: Final = ("shop_key", "order_id", "updated_at", "content")
_COLUMNS: Final = {
    tables.raw_event: (
        *(*_EVENT, "batch_id", "form_id"),
        *("visitor_id", "customer_id", "email_sha256", "page_path"),
    ),
    tables.raw_order: (*_ORDER, "batch_id"),
}

REMOVED_EVENT: Final = f"({names(_EVENT)}) IN (SELECT {names(_EVENT)} FROM removed_event)"
"""The condition on `raw_event`: it is staged."""

REMOVED_ORDER: Final = f"({names(_ORDER)}) IN (SELECT {names(_ORDER)} FROM removed_order)"
"""The condition on `raw_order`: it is staged."""

OTHER_VERSION: Final = f"({touched.ORDER}) IN (SELECT {touched.ORDER} FROM removed_order)"
"""The condition on `raw_order`: a version of its order is staged."""


def portion_rows() -> int:
    """The raw rows that are removed, undone or purged together."""
    return batching.BATCH_ROWS // _PORTION_FRACTION


def stage(
    connection: ArrowConnection,
    table: Table,
    shops: Iterable[int],
    which: str,
    most: int | None = None,
) -> pa.Table:
    """Stage the first rows (`most` of them, else a portion) of shops in a raw table that meet a condition;
    returns them. Commits."""
    rows = connection.rows_of(
        table,
        f"SELECT {names(_COLUMNS[table])} FROM {table.name} "
        f"WHERE shop_key IN ({sql_list(shops)}) AND ({which}) LIMIT {most or portion_rows()}",
    )
    staged = connection.stage(table.name.replace("raw", "removed"), rows)
    key = _COLUMNS[table][1]
    connection.execute(f"CREATE INDEX {staged}_{key} ON {staged} ({key})")
    connection.analyze(staged)
    connection.commit()
    return rows


def stage_other_versions(connection: ArrowConnection, shops: Iterable[int], which: str) -> pa.Table:
    """Stage all versions that meet a condition, of the orders of which one is staged; returns them.
    Commits."""
    all_of_them = 2**31
    return stage(connection, tables.raw_order, shops, f"({which}) AND {OTHER_VERSION}", all_of_them)

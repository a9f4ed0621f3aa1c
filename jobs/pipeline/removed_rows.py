"""The rows of a portion that is removed, staged in `removed_event` and `removed_order`."""

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
from sqlalchemy import Table

from jobs.facts import read_raw, touched
from jobs.facts.kept_facts import KeptFacts
from jobs.pipeline import batching
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection, names, schema_of
from warehouse.editions.pending_batches import sql_list

# A portion has so many times fewer raw rows than a group of batches: all that is left of its sessions and
# orders is read and derived by the transaction that deletes them, which keeps others from writing. A purge
# keeps one cell of a portion.
_PORTION_FRACTION: Final = 4

_EVENT: Final = ("shop_key", "event_id")
_ORDER: Final = ("shop_key", "order_id", "updated_at", "content")
_COLUMNS: Final = {
    tables.raw_event: (
        *(*_EVENT, "batch_id", "form_id", "form_session_id", "occurred_at", "step_id"),
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
    stage_rows(connection, table, rows)
    return rows


def stage_other_versions(connection: ArrowConnection, shops: Iterable[int], which: str) -> pa.Table:
    """Stage all versions that meet a condition, of the orders of which one is staged; returns them.
    Commits."""
    all_of_them = 2**31
    return stage(connection, tables.raw_order, shops, f"({which}) AND {OTHER_VERSION}", all_of_them)


def stage_rows(connection: ArrowConnection, table: Table, rows: pa.Table) -> None:
    """Stage rows of a raw table, in the columns that `stage` takes. Commits."""
    staged = connection.stage(table.name.replace("raw", "removed"), rows)
    key = _COLUMNS[table][1]
    connection.execute(f"CREATE INDEX {staged}_{key} ON {staged} ({key})")
    connection.analyze(staged)
    connection.commit()


def stage_kept(connection: ArrowConnection, shop_key: int, batch_id: int, gone: KeptFacts) -> None:
    """Stage the events that decided something in kept facts, as far as these know them. Commits."""
    seen = gone.groups.merge(gone.sessions, on="group")
    seen = seen.assign(event_id="", occurred_at=seen["email_at"], step_id="")
    named = gone.step_names.merge(gone.steps[["step", "step_id"]].drop_duplicates(), on="step")
    named = named.merge(gone.groups, on="group").assign(occurred_at=0)
    events = [seen, *(named.assign(event_id=named[name]) for name in ("index_event", "name_event"))]
    columns = _COLUMNS[tables.raw_event]
    rows = {
        name: np.concatenate([part[name].to_numpy() for part in events])
        for name in columns
        if name not in ("shop_key", "batch_id")
    }
    size = len(rows["event_id"])
    rows |= {"shop_key": np.full(size, shop_key), "batch_id": np.full(size, batch_id)}
    staged = pa.table(rows, schema_of(tables.raw_event, columns))
    stage_rows(connection, tables.raw_event, staged)
    no_orders = schema_of(tables.raw_order, _COLUMNS[tables.raw_order]).empty_table()
    stage_rows(connection, tables.raw_order, no_orders)


def orders_of(connection: ArrowConnection, by_shop: Mapping[int, int]) -> pd.DataFrame:
    """The staged orders of shops, each once: edition, order. `by_shop`: the edition of each shop key."""
    named = connection.rows_of(
        tables.raw_order,
        f"SELECT DISTINCT {touched.ORDER} FROM removed_order WHERE shop_key IN ({sql_list(by_shop)})",
    )
    shops = named["shop_key"].to_numpy()
    ids = read_raw.shop_ids(shops, named["order_id"])
    return pd.DataFrame({"edition": read_raw.editions_of(shops, by_shop), "order": ids})

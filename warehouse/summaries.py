"""The only writer of daily summaries.

Rows come as a rollup gives them (`Summary.columns`, each combination once) and are written inside
the caller's transaction, the one that stores the facts they were made of: that is what keeps sums
from drifting when a process dies.
"""

import numpy as np
import pyarrow as pa

from warehouse import adding
from warehouse.bulk import Bulk, names
from warehouse.catalogue import Summary
from warehouse.packing import pack, unpack


def add(bulk: Bulk, summary: Summary, delta: pa.Table) -> None:
    """Add each row's measures to what is stored under its key; rows that become all zero vanish."""
    if not delta.num_rows:
        return
    keys = delta.select(list(summary.key)).group_by(list(summary.key)).aggregate([])
    staged = bulk.stage("staged_keys", keys)
    stored = _stored(bulk, summary, staged)
    if stored.num_rows:
        key = names(summary.key)
        bulk.execute(f"DELETE FROM {summary.table} WHERE ({key}) IN (SELECT {key} FROM {staged})")
        met, others = _apart(delta, stored.select(list(summary.key)), keys.num_rows)
        met = total(summary, pa.concat_tables([_cells_or_rows(summary, stored), met]))
        delta = pa.concat_tables([met, others])
    _append(bulk, summary, delta)


def _apart(delta: pa.Table, stored: pa.Table, keys: int) -> tuple[pa.Table, pa.Table]:
    """The rows of a delta whose key is one of those stored, and the others: what is new, as most is
    while a shop is first rolled up, needs no adding up."""
    if stored.num_rows == keys:
        return delta, delta.slice(0, 0)
    met, others = (
        delta.join(stored, stored.column_names, join_type=kind, use_threads=False)
        for kind in ("left semi", "left anti")
    )
    return met, others


def replace(
    bulk: Bulk, summary: Summary, edition: int, first: int, last: int, rows: pa.Table
) -> None:
    """Put these rows in the place of all that an edition has for the days `first`..`last`."""
    bulk.execute(
        f"DELETE FROM {summary.table} WHERE edition = $1 AND day BETWEEN $2 AND $3",
        edition,
        first,
        last,
    )
    _append(bulk, summary, rows)


def stored_rows(bulk: Bulk, summary: Summary, edition: int, first: int, last: int) -> pa.Table:
    """What is stored for the days `first`..`last`, in the form in which a rollup gives it."""
    columns = (*summary.key, "cells") if summary.cells else summary.columns
    rows = bulk.table(
        f"SELECT {names(columns)} FROM {summary.table} "
        "WHERE edition = $1 AND day BETWEEN $2 AND $3",
        edition,
        first,
        last,
    )
    if not rows.num_rows:
        return pa.table({name: pa.array([], pa.int64()) for name in summary.columns})
    return _cells_or_rows(summary, rows)


def total(summary: Summary, rows: pa.Table) -> pa.Table:
    """Rows with equal dimensions summed, those without any figure left out."""
    columns = {name: rows[name].to_numpy() for name in summary.columns}
    summed = adding.total(columns, ("edition", "day", *summary.dims, *summary.cells))
    kept = np.logical_or.reduce([summed[measure] != 0 for measure in summary.measures])
    return pa.table({name: column[kept] for name, column in summed.items()})


def _stored(bulk: Bulk, summary: Summary, staged: str) -> pa.Table:
    columns = (*summary.key, "cells") if summary.cells else summary.columns
    same = " AND ".join(f'd."{name}" = k."{name}"' for name in summary.key)
    return bulk.table(
        f"SELECT {names(columns, 'd.')} FROM {staged} k CROSS JOIN {summary.table} d WHERE {same}"
    )


def _cells_or_rows(summary: Summary, rows: pa.Table) -> pa.Table:
    return unpack(summary, rows) if summary.cells else rows.select(list(summary.columns))


def _append(bulk: Bulk, summary: Summary, rows: pa.Table) -> None:
    if summary.cells and rows.num_rows:
        rows = pack(summary, rows)
    elif rows.num_rows:
        rows = rows.sort_by([(name, "ascending") for name in summary.key])
    bulk.append(summary.table, rows)

"""The only writer of daily summaries.

Rows come as a rollup gives them (`Summary.columns`, each combination once) and are written inside
the caller's transaction, the one that stores the facts they were made of: that is what keeps sums
from drifting when a process dies.
"""

import pyarrow as pa
import pyarrow.compute as pc

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
    if stored is not None:
        key = names(summary.key)
        bulk.execute(f"DELETE FROM {summary.table} WHERE ({key}) IN (SELECT {key} FROM {staged})")
        delta = total(summary, pa.concat_tables([stored, delta]))
    _append(bulk, summary, delta)


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
    """Rows with equal dimensions summed, those without any figure left out, sorted by key."""
    dims = ["edition", "day", *summary.dims, *summary.cells]
    grouped = rows.group_by(dims, use_threads=False).aggregate(
        [(measure, "sum") for measure in summary.measures]
    )
    summed = pa.table(
        {dim: grouped[dim] for dim in dims}
        | {measure: grouped[f"{measure}_sum"] for measure in summary.measures}
    )
    empty = None
    for measure in summary.measures:
        zero = pc.equal(summed[measure], 0)
        empty = zero if empty is None else pc.and_(empty, zero)
    return summed.filter(pc.invert(empty)).sort_by([(name, "ascending") for name in summary.key])


def _stored(bulk: Bulk, summary: Summary, staged: str) -> pa.Table | None:
    columns = (*summary.key, "cells") if summary.cells else summary.columns
    same = " AND ".join(f'd."{name}" = k."{name}"' for name in summary.key)
    rows = bulk.table(
        f"SELECT {names(columns, 'd.')} FROM {staged} k CROSS JOIN {summary.table} d WHERE {same}"
    )
    return _cells_or_rows(summary, rows) if rows.num_rows else None


def _cells_or_rows(summary: Summary, rows: pa.Table) -> pa.Table:
    return unpack(summary, rows) if summary.cells else rows.select(list(summary.columns))


def _append(bulk: Bulk, summary: Summary, rows: pa.Table) -> None:
    if summary.cells and rows.num_rows:
        rows = pack(summary, rows)
    elif rows.num_rows:
        rows = rows.sort_by([(name, "ascending") for name in summary.key])
    bulk.append(summary.table, rows)

"""The only writer of daily rows.

Rows come as a rollup returns them (`Summary.columns`, each combination once). They are written in the
caller's transaction, the same one that stores the facts they were derived from: sums cannot drift
from facts when a process dies.
"""

from collections.abc import Collection, Iterator
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warehouse.catalogue import Summary
from warehouse.connections.arrow import ArrowConnection, names
from warehouse.daily import group_sum, packed_rows
from warehouse.daily.packed_rows import pack, unpack

# Stored bytes of packed rows that are in memory at once.
_BYTES_AT_ONCE: Final = 16 << 20


def add(
    connection: ArrowConnection, summary: Summary, delta: pa.Table, empty: Collection[int] = ()
) -> None:
    """Add each row's measures to those stored under its key. Rows that become all zero are deleted.
    `empty`: editions of which no row is stored, so that none is looked up."""
    if not delta.num_rows:
        return
    is_new = pc.is_in(delta["edition"], pa.array(empty, pa.int64()))
    new, others = delta.filter(is_new), delta.filter(pc.invert(is_new))
    written = [_as_stored(summary, new)]
    for portion in _portions(connection, summary, others):
        written.append(_with_stored(connection, summary, portion))
        if len(written) > 2:
            _append(connection, summary, written.pop())
    _append(connection, summary, pa.concat_tables(written))


def _portions(connection: ArrowConnection, summary: Summary, delta: pa.Table) -> Iterator[pa.Table]:
    """The rows, those of some keys after the others where many lines are stored under them."""
    key = list(summary.key)
    if not summary.packed_dims or not delta.num_rows:
        yield from [delta] if delta.num_rows else []
        return
    staged = connection.stage("staged_keys", delta.select(key).group_by(key).aggregate([]))
    same = " AND ".join(f'd."{name}" = k."{name}"' for name in key)
    stored = connection.table(
        f"SELECT {names(summary.key, 'd.')}, LENGTH(d.packed_dims) AS size "
        f"FROM {staged} k CROSS JOIN {summary.table} d WHERE {same}"
    )
    portion = np.cumsum(stored["size"].to_numpy()) // _BYTES_AT_ONCE
    if not stored.num_rows or portion[-1] == 0:
        yield delta
        return
    numbered = stored.drop_columns("size").append_column("portion", pa.array(portion))
    rows = delta.join(numbered, key, join_type="left outer", use_threads=False)
    numbers = rows["portion"].fill_null(0)
    for number in np.unique(numbers.to_numpy()):
        yield rows.filter(pc.equal(numbers, int(number))).select(list(summary.columns))


def _with_stored(connection: ArrowConnection, summary: Summary, delta: pa.Table) -> pa.Table:
    """The rows, as they are stored, with those stored under their keys added, which are deleted."""
    keys = delta.select(list(summary.key)).group_by(list(summary.key)).aggregate([])
    staged = connection.stage("staged_keys", keys)
    same = " AND ".join(f'd."{name}" = k."{name}"' for name in summary.key)
    stored = connection.table(
        f"SELECT {names(_stored_columns(summary), 'd.')} "
        f"FROM {staged} k CROSS JOIN {summary.table} d WHERE {same}"
    )
    if not stored.num_rows:
        return _as_stored(summary, delta)
    key = names(summary.key)
    connection.execute(f"DELETE FROM {summary.table} WHERE ({key}) IN (SELECT {key} FROM {staged})")
    known, new = _split(delta, stored.select(list(summary.key)), keys.num_rows)
    known, new = _as_stored(summary, known), _as_stored(summary, new)
    both = pa.concat_tables([stored.cast(known.schema), known])
    known = packed_rows.total(summary, both) if summary.packed_dims else sum_rows(summary, both)
    return pa.concat_tables([known, new])


def replace(
    connection: ArrowConnection,
    summary: Summary,
    edition: int,
    first: int,
    last: int,
    rows: pa.Table,
) -> None:
    """Replace all rows of an edition for the days `first`..`last`."""
    connection.execute(
        f"DELETE FROM {summary.table} WHERE edition = $1 AND day BETWEEN $2 AND $3",
        edition,
        first,
        last,
    )
    _append(connection, summary, _as_stored(summary, rows))


def stored_rows(
    connection: ArrowConnection, summary: Summary, edition: int, first: int, last: int
) -> pa.Table:
    """The rows that are stored for the days `first`..`last`, in the columns of a rollup."""
    rows = connection.table(
        f"SELECT {names(_stored_columns(summary))} FROM {summary.table} "
        "WHERE edition = $1 AND day BETWEEN $2 AND $3",
        edition,
        first,
        last,
    )
    if not rows.num_rows:
        return pa.table({name: pa.array([], pa.int64()) for name in summary.columns})
    return _unpacked(summary, rows)


def rows_of_spans(connection: ArrowConnection, summary: Summary, spans: pa.Table) -> pa.Table:
    """The same for spans of days of several editions: edition, first, last; no day is in two."""
    staged = connection.stage("staged_days", spans)
    rows = connection.table(
        f"SELECT {names(_stored_columns(summary), 'd.')} FROM {staged} k "
        f"CROSS JOIN {summary.table} d WHERE d.edition = k.edition "
        "AND d.day BETWEEN k.first AND k.last"
    )
    if not rows.num_rows:
        return pa.table({name: pa.array([], pa.int64()) for name in summary.columns})
    return _unpacked(summary, rows)


def sum_rows(summary: Summary, rows: pa.Table) -> pa.Table:
    """Rows with equal dimensions summed, without those that are all zero."""
    columns = {name: rows[name].to_numpy() for name in summary.columns}
    summed = group_sum.total(columns, ("edition", "day", *summary.dims, *summary.packed_dims))
    is_kept = np.logical_or.reduce([summed[measure] != 0 for measure in summary.measures])
    return pa.table({name: column[is_kept] for name, column in summed.items()})


def _split(delta: pa.Table, stored: pa.Table, keys: int) -> tuple[pa.Table, pa.Table]:
    """The rows of a delta whose key is stored, and the others, which need no summing: in a shop's
    first rollup that is most of them. `keys`: how many keys the delta has."""
    if stored.num_rows == keys:
        return delta, delta.slice(0, 0)
    known, new = (
        delta.join(stored, stored.column_names, join_type=kind, use_threads=False)
        for kind in ("left semi", "left anti")
    )
    return known, new


def _stored_columns(summary: Summary) -> tuple[str, ...]:
    return (*summary.key, "packed_dims") if summary.packed_dims else summary.columns


def _unpacked(summary: Summary, rows: pa.Table) -> pa.Table:
    return unpack(summary, rows) if summary.packed_dims else rows.select(list(summary.columns))


def _as_stored(summary: Summary, rows: pa.Table) -> pa.Table:
    return pack(summary, rows) if summary.packed_dims else rows.select(_stored_columns(summary))


def _append(connection: ArrowConnection, summary: Summary, rows: pa.Table) -> None:
    if not summary.packed_dims:
        rows = rows.sort_by([(name, "ascending") for name in summary.key])
    connection.append(summary.table, rows)

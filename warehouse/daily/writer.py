"""The only writer of daily rows.

Rows come as a rollup returns them (`Summary.columns`, each combination once). They are written in the
caller's transaction, the same one that stores the facts they were derived from: sums cannot drift
from facts when a process dies.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warehouse.catalogue import Summary
from warehouse.connections.arrow import ArrowConnection, names
from warehouse.daily import group_sum, packed_rows
from warehouse.daily.packed_rows import pack, unpack

# Bytes of packed rows that are in memory at once: of stored ones, and of those that are to be added.
_BYTES_AT_ONCE: Final = 16 << 20
_ADDED_AT_ONCE: Final = 24 << 20


def add(
    connection: ArrowConnection, summary: Summary, delta: pa.Table, empty: Collection[int] = ()
) -> None:
    """Add each row's measures to those stored under its key. Rows that become all zero are deleted.
    `empty`: editions of which no row is stored, so that none is looked up."""
    add_all(connection, summary, [delta], empty)


def add_all(
    connection: ArrowConnection,
    summary: Summary,
    deltas: Iterable[pa.Table],
    empty: Collection[int] = (),
) -> None:
    """The same of several deltas. A packed row is written once for many of them: a long one is as much work
    for a single line."""
    found: list[pa.Table] = []
    for delta in deltas:
        if delta.num_rows:
            found.append(_as_stored(summary, delta))
        if sum(rows.nbytes for rows in found) > _ADDED_AT_ONCE:
            _add_stored(connection, summary, found, empty)
            found, empty = [], ()
    if found:
        _add_stored(connection, summary, found, empty)


def _add_stored(
    connection: ArrowConnection, summary: Summary, deltas: list[pa.Table], empty: Collection[int]
) -> None:
    """Add rows, as they are stored; those of one key are in different deltas."""
    delta = pa.concat_tables(deltas)
    if len(deltas) > 1:
        deltas.clear()
        delta = _sum_stored(summary, delta)
    is_new = pc.is_in(delta["edition"], pa.array(empty, pa.int64()))
    new, others = delta.filter(is_new), delta.filter(pc.invert(is_new))
    del delta
    _append(connection, summary, new)
    for portion, size in _portions(connection, summary, others):
        _append(connection, summary, _with_stored(connection, summary, portion, size))


def _portions(
    connection: ArrowConnection, summary: Summary, delta: pa.Table
) -> Iterator[tuple[pa.Table, int]]:
    """The rows, those of some keys after the others where many lines are stored under them. With a row for
    which there are very many: their bytes; else 0."""
    if not summary.packed_dims or not delta.num_rows:
        yield from [(delta, 0)] if delta.num_rows else []
        return
    key = list(summary.key)
    places = pa.array(np.arange(delta.num_rows))
    staged = connection.stage("staged_keys", delta.select(key).append_column("place", places))
    same = " AND ".join(f'd."{name}" = k."{name}"' for name in key)
    stored = connection.table(
        "SELECT k.place AS place, LENGTH(d.packed_dims) AS size "
        f"FROM {staged} k CROSS JOIN {summary.table} d WHERE {same}"
    )
    sizes = np.zeros(delta.num_rows, dtype=np.int64)
    if stored.num_rows:
        sizes[stored["place"].to_numpy()] = stored["size"].to_numpy()
    is_long = sizes > _BYTES_AT_ONCE
    both = sizes + pc.binary_length(delta["packed_dims"]).to_numpy()
    portion = np.cumsum(np.where(is_long, 0, both)) // _BYTES_AT_ONCE
    for number in np.unique(portion[~is_long]):
        yield delta.filter(pa.array(~is_long & (portion == number))), 0
    for place in np.flatnonzero(is_long).tolist():
        yield delta.slice(place, 1), int(sizes[place])


def _with_stored(
    connection: ArrowConnection, summary: Summary, delta: pa.Table, size: int
) -> pa.Table:
    """The rows with those stored under their keys added, which are deleted. `size`: as in `_portions`."""
    keys = delta.select(list(summary.key))
    staged = connection.stage("staged_keys", keys)
    same = " AND ".join(f'd."{name}" = k."{name}"' for name in summary.key)
    found = f"FROM {staged} k CROSS JOIN {summary.table} d WHERE {same}"
    if size:
        delta = packed_rows.grown(summary, _pieces(connection, summary, size, found), size, delta)
    else:
        stored = connection.table(f"SELECT {names(_stored_columns(summary), 'd.')} {found}")
        if not stored.num_rows:
            return delta
        known, delta = _split(delta, stored.select(list(summary.key)))
        known = _sum_stored(summary, pa.concat_tables([stored.cast(known.schema), known]))
        delta = pa.concat_tables([known, delta])
    key = names(summary.key)
    connection.execute(f"DELETE FROM {summary.table} WHERE ({key}) IN (SELECT {key} FROM {staged})")
    return delta


def _pieces(
    connection: ArrowConnection, summary: Summary, size: int, found: str
) -> Iterator[bytes]:
    """The lines of one stored packed row, some after the others."""
    line = packed_rows.layout(summary).itemsize
    length = max(_BYTES_AT_ONCE // line, 1) * line
    for start in range(0, size, length):
        yield connection.value(f"SELECT SUBSTR(d.packed_dims, {start + 1}, {length}) {found}")


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


def _sum_stored(summary: Summary, rows: pa.Table) -> pa.Table:
    return packed_rows.total(summary, rows) if summary.packed_dims else sum_rows(summary, rows)


def _split(delta: pa.Table, stored: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The rows of a delta whose key is stored, and the others, which need no summing: in a shop's
    first rollup that is most of them."""
    if stored.num_rows == delta.num_rows:
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

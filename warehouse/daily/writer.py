"""The only writer of daily rows.

Rows come as a rollup returns them (`Summary.columns`, each combination once), packed where they are stored
so. They are written in the caller's transaction, the same one that stores the facts they were derived from:
sums cannot drift from facts when a process dies.
"""

import ctypes
from collections.abc import Collection, Iterable, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from warehouse.catalogue import Summary
from warehouse.connections.arrow import ArrowConnection, names
from warehouse.daily import group_sum, packed_rows
from warehouse.daily.packed_rows import pack, unpack
from warehouse.tables import DAILY
from warehouse.tables.base import column_names, key_names

# Bytes of packed rows that are in memory at once: of stored ones, and of those that are to be added.
_BYTES_AT_ONCE: Final = 16 << 20
_ADDED_AT_ONCE: Final = 24 << 20
# Only glibc has it.
_malloc_trim: Final = getattr(ctypes.CDLL(None), "malloc_trim", None)


def add(
    connection: ArrowConnection,
    summary: Summary,
    deltas: Iterable[pa.Table],
    empty: Collection[int] = (),
) -> None:
    """Add the measures of each row of some deltas, as they are stored (`as_stored`), to those under its key.
    Rows that become all zero are deleted. `empty`: editions of which no row is stored, so that none is looked
    up. A packed row is written once for many deltas: a long one is as much work for a single line."""
    found: list[pa.Table] = []
    for delta in deltas:
        if delta.num_rows:
            found.append(delta)
        if sum(rows.nbytes for rows in found) > _ADDED_AT_ONCE:
            if _malloc_trim:
                # The C library keeps what is free between other blocks: more with each of many portions.
                _malloc_trim(0)
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
    is_new = np.isin(delta["edition"].to_numpy(), list(empty))
    new, others = _those(delta, is_new), _those(delta, ~is_new)
    del delta
    _append(connection, summary, new)
    if not others.num_rows:
        return
    staged = _stage(connection, summary, others)
    for rows, is_long in _chunks(connection, summary, staged, others):
        chunk = _those(others, rows)
        if chunk.num_rows < others.num_rows:
            staged = _stage(connection, summary, chunk)
        if is_long:
            _grow(connection, summary, staged, chunk)
        else:
            _append(connection, summary, _with_stored(connection, summary, staged, chunk))


def _those(rows: pa.Table, mask: npt.NDArray[np.bool_]) -> pa.Table:
    """The rows of a mask. Where these are all, nothing is copied."""
    return rows if mask.all() else rows.filter(pa.array(mask))


def _stage(connection: ArrowConnection, summary: Summary, rows: pa.Table) -> str:
    """Stage the keys of rows, each with the place of its row."""
    places = pa.array(np.arange(rows.num_rows))
    keys = rows.select(list(summary.key)).append_column("place", places)
    return connection.stage("staged_keys", keys)


def _chunks(
    connection: ArrowConnection, summary: Summary, staged: str, delta: pa.Table
) -> Iterator[tuple[npt.NDArray[np.bool_], bool]]:
    """Masks of the rows, those of some keys after the others where many lines are stored under them; and
    whether there are very many for a single one."""
    if not summary.packed_dims:
        yield np.ones(delta.num_rows, dtype=bool), False
        return
    # A GROUP BY would sort the cells themselves, in memory.
    size = f"SELECT SUM(LENGTH(d.packed_dims)) FROM {summary.table} d WHERE {_same(summary)}"
    stored = connection.table(
        f"SELECT k.place, CAST(COALESCE(({size}), 0) AS BIGINT) AS size FROM {staged} k"
    )
    sizes = np.zeros(delta.num_rows, dtype=np.int64)
    sizes[stored["place"].to_numpy()] = stored["size"].to_numpy()
    is_long = sizes > _BYTES_AT_ONCE
    both = sizes + pc.binary_length(delta["packed_dims"]).to_numpy()
    chunk = np.cumsum(np.where(is_long, 0, both)) // _BYTES_AT_ONCE
    for number in np.unique(chunk[~is_long]):
        yield ~is_long & (chunk == number), False
    for place in np.flatnonzero(is_long):
        yield np.arange(delta.num_rows) == place, True


def _with_stored(
    connection: ArrowConnection, summary: Summary, staged: str, delta: pa.Table
) -> pa.Table:
    """The rows, whose keys are staged, with those stored under their keys added, which are deleted."""
    stored = connection.table(
        f"SELECT k.place, {names(_stored_columns(summary), 'd.')} {_found(summary, staged)}"
    )
    if not stored.num_rows:
        return delta
    # Rows whose key is not stored need no summing: in a shop's first rollup that is most of them.
    is_known = np.zeros(delta.num_rows, dtype=bool)
    is_known[stored["place"].to_numpy()] = True
    known = delta.filter(pa.array(is_known))
    both = pa.concat_tables([stored.drop_columns("place").cast(known.schema), known])
    key = names(summary.key)
    connection.execute(f"DELETE FROM {summary.table} WHERE ({key}) IN (SELECT {key} FROM {staged})")
    return pa.concat_tables([_sum_stored(summary, both), delta.filter(pa.array(~is_known))])


def _grow(connection: ArrowConnection, summary: Summary, staged: str, delta: pa.Table) -> None:
    """Add the lines of one packed row to those stored under its key, which is staged, a part after the
    other."""
    found = _found(summary, staged)
    parts = connection.table(f"SELECT d.part {found} ORDER BY d.part")["part"].to_pylist()
    key = names(summary.key)

    def taken() -> Iterator[bytes]:
        for part in parts:
            lines: bytes = connection.value(f"SELECT d.packed_dims {found} AND d.part = $1", part)
            connection.execute(
                f"DELETE FROM {summary.table} WHERE ({key}) IN (SELECT {key} FROM {staged}) "
                "AND part = $1",
                part,
            )
            yield lines

    for rows in packed_rows.grown(summary, taken(), delta):
        connection.append(summary.table, rows, is_temporary=summary.is_staged)


def _found(summary: Summary, staged: str) -> str:
    """FROM and WHERE of the rows (`d`) that are stored under staged keys."""
    return f"FROM {staged} k CROSS JOIN {summary.table} d WHERE {_same(summary)}"


def _same(summary: Summary) -> str:
    return " AND ".join(f'd."{name}" = k."{name}"' for name in summary.key)


def stage_empty(connection: ArrowConnection, summary: Summary) -> None:
    """Make an empty temporary table for rows of a summary (`Summary.staged`)."""
    table, key = summary.staged().table, names(key_names(DAILY[summary.name]))
    connection.execute(f"DROP TABLE IF EXISTS {table}")
    connection.execute(
        f"CREATE TEMPORARY TABLE {table} AS SELECT * FROM {summary.table} WHERE false"
    )
    connection.execute(f"CREATE UNIQUE INDEX key_of_{table} ON {table} ({key})")


def replace(
    connection: ArrowConnection, summary: Summary, edition: int, first: int, last: int
) -> None:
    """Replace all rows of an edition for the days `first`..`last` by those that are staged."""
    connection.execute(
        f"DELETE FROM {summary.table} WHERE edition = $1 AND day BETWEEN $2 AND $3",
        edition,
        first,
        last,
    )
    columns = names(column_names(DAILY[summary.name]))
    connection.execute(
        f"INSERT INTO {summary.table} ({columns}) SELECT {columns} FROM {summary.staged().table}"
    )


def rows_of_spans(connection: ArrowConnection, summary: Summary, spans: pa.Table) -> pa.Table:
    """The rows that are stored for spans of days of editions (edition, first, last; no day is in two), in the
    columns of a rollup."""
    staged = connection.stage("staged_days", spans)
    rows = connection.table(
        f"SELECT {names(_stored_columns(summary), 'd.')} FROM {staged} k "
        f"CROSS JOIN {summary.table} d WHERE d.edition = k.edition "
        "AND d.day BETWEEN k.first AND k.last"
    )
    if not rows.num_rows:
        return pa.table({name: pa.array([], pa.int64()) for name in summary.columns})
    return unpack(summary, rows) if summary.packed_dims else rows.select(list(summary.columns))


def sum_rows(summary: Summary, rows: pa.Table) -> pa.Table:
    """Rows with equal dimensions summed, without those that are all zero."""
    columns = {name: rows[name].to_numpy() for name in summary.columns}
    summed = group_sum.total(columns, ("edition", "day", *summary.dims, *summary.packed_dims))
    is_kept = np.logical_or.reduce([summed[measure] != 0 for measure in summary.measures])
    return pa.table({name: column[is_kept] for name, column in summed.items()})


def _sum_stored(summary: Summary, rows: pa.Table) -> pa.Table:
    return packed_rows.total(summary, rows) if summary.packed_dims else sum_rows(summary, rows)


def _stored_columns(summary: Summary) -> tuple[str, ...]:
    return (*summary.key, "packed_dims") if summary.packed_dims else summary.columns


def as_stored(summary: Summary, rows: pa.Table) -> pa.Table:
    """Rows as a rollup returns them, as they are stored."""
    return pack(summary, rows) if summary.packed_dims else rows.select(_stored_columns(summary))


def _append(connection: ArrowConnection, summary: Summary, rows: pa.Table) -> None:
    if not rows.num_rows:
        return
    if summary.packed_dims:
        rows = packed_rows.in_parts(summary, rows)
    else:
        rows = rows.sort_by([(name, "ascending") for name in summary.key])
    connection.append(summary.table, rows, is_temporary=summary.is_staged)

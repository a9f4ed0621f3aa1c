"""Packed rows: many small daily rows in one binary column.

A packed row belongs to one (edition, day, dimensions) key. Its column `packed_dims` has a line for each
combination of the packed dimensions: these first, then the measures, as little-endian integers of as many
bytes as the catalogue says (`WIDTHS`). Packing and unpacking slice one buffer, without a Python object per
line.

The lines of a packed row are sorted, and strangers decide how many there are. So it is stored in parts of as
many lines, the last one shorter, and no more than a part is written at once. A reader sums lines, and need
not know of parts.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from warehouse.catalogue import WIDTHS, Summary
from warehouse.daily.group_sum import Column

Lines = npt.NDArray[np.void]
"""Lines of packed rows, a field for each column of `layout`."""

# Nearly all packed rows are shorter: of 80,000 visitors of a form on one day, one is as long.
_PART_BYTES: Final = 4 << 20
_SIDES: Final[tuple[Literal["left"], Literal["right"]]] = ("left", "right")


@cache
def layout(summary: Summary) -> np.dtype[np.void]:
    """The columns of a line."""
    names = (*summary.packed_dims, *summary.measures)
    return np.dtype([(name, f"<i{WIDTHS.get(name, 8)}") for name in names])


def unpack_bytes(summary: Summary, blobs: Sequence[bytes]) -> tuple[Lines, Column]:
    """The lines of all blobs, and for each of them the index of its blob."""
    columns = layout(summary)
    lines = np.frombuffer(b"".join(blobs), dtype=columns)
    lengths = np.fromiter(map(len, blobs), dtype=np.int64, count=len(blobs))
    return lines, np.repeat(np.arange(len(blobs)), lengths // columns.itemsize)


def unpack(summary: Summary, packed: pa.Table) -> pa.Table:
    """Packed rows (key columns and `packed_dims`) as one row per line, in the summary's columns."""
    lines, rows = _lines(summary, packed)
    columns = {name: packed[name].to_numpy()[rows] for name in summary.key}
    columns |= {name: lines[name].astype(np.int64) for name in lines.dtype.names or ()}
    return pa.table({name: columns[name] for name in summary.columns})


def _lines(summary: Summary, packed: pa.Table) -> tuple[Lines, Column]:
    """The lines of packed rows, and for each of them the index of its row. Nothing is copied where the rows
    are in one chunk."""
    blobs = packed["packed_dims"].combine_chunks()
    offsets = _offsets(blobs)
    data = np.frombuffer(blobs.buffers()[2] or b"", dtype=np.uint8)[offsets[0] : offsets[-1]]
    lines = data.view(layout(summary))
    return lines, np.repeat(np.arange(len(blobs)), np.diff(offsets) // lines.itemsize)


def _offsets(blobs: pa.BinaryArray) -> npt.NDArray[np.int32]:
    """Where each blob begins in its buffer, and where the last one ends."""
    offsets = np.frombuffer(blobs.buffers()[1], dtype=np.int32)
    return offsets[blobs.offset : blobs.offset + len(blobs) + 1]


def pack(summary: Summary, rows: pa.Table) -> pa.Table:
    """Rows, each combination once, as packed rows (key columns and `packed_dims`). Raises OverflowError for a
    number that does not fit into its column."""
    rows = rows.sort_by([(name, "ascending") for name in (*summary.key, *summary.packed_dims)])
    keys = [rows[name].to_numpy() for name in summary.key]
    is_first = np.ones(rows.num_rows, dtype=bool)
    if rows.num_rows:
        is_first[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in keys])
    first = np.flatnonzero(is_first)
    lines = np.empty(rows.num_rows, dtype=layout(summary))
    for name in lines.dtype.names or ():
        _set(summary, lines, name, rows[name].to_numpy())
    own = {name: column[first] for name, column in zip(summary.key, keys, strict=True)}
    return _packed(own, lines, np.append(first, rows.num_rows))


def clipped(rows: pa.Table) -> pa.Table:
    """Rows with the nearest number that fits in the place of one that does not."""
    columns = {name: rows[name].to_numpy() for name in rows.column_names}
    for name in WIDTHS.keys() & columns.keys():
        bounds = np.iinfo(f"<i{WIDTHS[name]}")
        columns[name] = columns[name].clip(bounds.min, bounds.max)
    return pa.table(columns)


def total(summary: Summary, packed: pa.Table) -> pa.Table:
    """Packed rows of equal keys as one, lines of equal dimensions summed; those that are all zero left out.
    Raises OverflowError as `pack` does. A line takes a fifth of the memory that it takes unpacked."""
    lines, blob = _lines(summary, packed)
    keys = [packed[name].to_numpy() for name in summary.key]
    order, is_first = _in_order(keys)
    index = np.empty_like(order)
    index[order] = np.cumsum(is_first) - 1
    summed, cell = _summed(summary, lines, index[blob])
    left, first = np.unique(cell, return_index=True)
    row = order[is_first][left]
    own = {name: column[row] for name, column in zip(summary.key, keys, strict=True)}
    return _packed(own, summed, np.append(first, len(summed)))


def in_parts(summary: Summary, packed: pa.Table, first: int = 0) -> pa.Table:
    """Packed rows as they are stored: cut into parts of as many lines, numbered from `first` on."""
    blobs = packed["packed_dims"].combine_chunks()
    offsets = _offsets(blobs)
    length = _lines_of_part(summary) * layout(summary).itemsize
    counts = -(-np.diff(offsets) // length)
    row = np.repeat(np.arange(len(blobs)), counts)
    part = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    starts = np.append(offsets[row] + part * length, offsets[-1]).astype(np.int32)
    columns = {name: packed[name].to_numpy()[row] for name in summary.key}
    cut = pa.BinaryArray.from_buffers(
        pa.binary(), len(row), [None, pa.py_buffer(starts), blobs.buffers()[2]]
    )
    return pa.table({**columns, "part": part + first, "packed_dims": cut})


def grown(summary: Summary, stored: Iterable[bytes], row: pa.Table) -> Iterator[pa.Table]:
    """The parts of one packed row with the lines of another of the same key added, as `total` does. `stored`:
    the other's parts in their order, one of which is in memory. Before the end it gives at most as many parts
    as it has read: those that take their place."""
    more, _ = _lines(summary, row)
    waiting, given = more[:0], 0
    for read, piece in enumerate(stored, 1):
        lines = np.frombuffer(piece, dtype=layout(summary))
        # The lines are sorted: those of both up to the part's last.
        first, after = 0, len(more)
        for name in summary.packed_dims:
            column = more[name][first:after]
            first, after = (
                first + int(column.searchsorted(lines[-1][name], side)) for side in _SIDES
            )
        own = more[:after]
        both = np.concatenate([lines, own])
        summed, _ = _summed(summary, both, np.zeros(len(both), dtype=np.int64))
        waiting, more = np.concatenate([waiting, summed]), more[len(own) :]
        parts = min(len(waiting) // _lines_of_part(summary), read - given)
        ready = parts * _lines_of_part(summary)
        yield _parts_of_one(summary, row, waiting[:ready], given)
        waiting, given = waiting[ready:].copy(), given + parts
    yield _parts_of_one(summary, row, np.concatenate([waiting, more]), given)


def _parts_of_one(summary: Summary, row: pa.Table, lines: Lines, first: int) -> pa.Table:
    keys = {name: row[name].to_numpy()[: min(len(lines), 1)] for name in summary.key}
    return in_parts(summary, _packed(keys, lines, np.unique([0, len(lines)])), first)


def _lines_of_part(summary: Summary) -> int:
    return max(_PART_BYTES // layout(summary).itemsize, 1)


def _summed(summary: Summary, lines: Lines, cell: Column) -> tuple[Lines, Column]:
    """Lines of equal cells and dimensions summed, in their order, without those that are all zero; and the
    cell of each."""
    dims = [cell, *(lines[name] for name in summary.packed_dims)]
    order, is_first = _in_order(dims)
    starts = np.flatnonzero(is_first)
    sums = {
        name: np.add.reduceat(lines[name][order], starts, dtype=np.int64)
        for name in summary.measures
    }
    is_kept = np.logical_or.reduce([column != 0 for column in sums.values()])
    rows = order[starts[is_kept]]
    summed = lines[rows]
    for name in summary.measures:
        _set(summary, summed, name, sums[name][is_kept])
    return summed, cell[rows]


def _in_order(columns: Sequence[Column]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """The order of rows by columns, and which of them, in this order, differ from the one before."""
    order = np.lexsort(columns[::-1])
    is_first = np.zeros(len(order), dtype=bool)
    is_first[:1] = True
    for column in columns:
        ordered = column[order]
        is_first[1:] |= ordered[1:] != ordered[:-1]
    return order, is_first


def _set(summary: Summary, lines: Lines, name: str, column: npt.NDArray[np.integer[Any]]) -> None:
    lines[name] = column
    if name in WIDTHS and (lines[name] != column).any():
        bits = 8 * WIDTHS[name]
        raise OverflowError(f"a number of {summary.table}.{name} does not fit into {bits} bits")


def _packed(keys: Mapping[str, Column], lines: Lines, starts: Column) -> pa.Table:
    """Packed rows of these keys. `starts`: the first line of each, and how many lines there are."""
    offsets = starts.astype(np.int64) * lines.itemsize
    blobs = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(),
        len(starts) - 1,
        [None, pa.py_buffer(offsets), pa.py_buffer(lines.view(np.uint8))],
    )
    return pa.table({**keys, "packed_dims": blobs.cast(pa.binary())})

"""Packed rows: many small daily rows in one binary column.

A packed row belongs to one (edition, day, dimensions) key. Its column `packed_dims` has a line for each
combination of the packed dimensions: these first, then the measures, as little-endian integers of as many
bytes as the catalogue says (`WIDTHS`). Packing and unpacking slice one buffer, without a Python object per
line.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from warehouse.catalogue import WIDTHS, Summary
from warehouse.daily.group_sum import Column

Lines = npt.NDArray[np.void]
"""Lines of packed rows, a field for each column of `layout`."""

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
    lengths = np.fromiter((len(blob) for blob in blobs), dtype=np.int64, count=len(blobs))
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
    offsets = np.frombuffer(blobs.buffers()[1], dtype=np.int32)[
        blobs.offset : blobs.offset + len(blobs) + 1
    ]
    data = np.frombuffer(blobs.buffers()[2] or b"", dtype=np.uint8)[offsets[0] : offsets[-1]]
    lines = data.view(layout(summary))
    return lines, np.repeat(np.arange(len(blobs)), np.diff(offsets) // lines.itemsize)


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


def total(summary: Summary, packed: pa.Table) -> pa.Table:
    """Packed rows of equal keys as one, lines of equal dimensions summed; those that are all zero left out.
    Raises OverflowError as `pack` does. A line takes a fifth of the memory that it takes unpacked."""
    lines, blob = _lines(summary, packed)
    keys = np.column_stack([packed[name].to_numpy() for name in summary.key])
    keys, index = np.unique(keys, axis=0, return_inverse=True)
    summed, cell = _summed(summary, lines, index.reshape(-1)[blob])
    left, first = np.unique(cell, return_index=True)
    own = {name: keys[left, place] for place, name in enumerate(summary.key)}
    return _packed(own, summed, np.append(first, len(summed)))


def grown(summary: Summary, stored: Iterable[bytes], size: int, row: pa.Table) -> pa.Table:
    """One packed row with the lines of another of the same key added, as `total` does. `stored`: the other's
    `size` bytes in pieces of whole lines, one of which is in memory beside the result."""
    columns = layout(summary)
    more, _ = _lines(summary, row)
    result = np.empty(size // columns.itemsize + len(more), dtype=columns)
    filled, read = 0, 0
    for piece in stored:
        lines = np.frombuffer(piece, dtype=columns)
        read += len(piece)
        # The lines are sorted: those of both up to the piece's last.
        own = more if read >= size else more[: _up_to(summary, more, lines[-1])]
        both = np.concatenate([lines, own])
        summed, _ = _summed(summary, both, np.zeros(len(both), dtype=np.int64))
        result[filled : filled + len(summed)] = summed
        filled, more = filled + len(summed), more[len(own) :]
    keys = {name: row[name].to_numpy()[: min(filled, 1)] for name in summary.key}
    return _packed(keys, result[:filled], np.unique([0, filled]))


def _up_to(summary: Summary, lines: Lines, last: np.void) -> int:
    """How many of the sorted lines do not come after this one."""
    first, after = 0, len(lines)
    for name in summary.packed_dims:
        column = lines[name][first:after]
        first, after = (first + int(column.searchsorted(last[name], side)) for side in _SIDES)
    return after


def _summed(summary: Summary, lines: Lines, cell: Column) -> tuple[Lines, Column]:
    """Lines of equal cells and dimensions summed, in their order, without those that are all zero; and the
    cell of each."""
    dims = [cell, *(lines[name] for name in summary.packed_dims)]
    order = np.lexsort(dims[::-1])
    is_first = np.zeros(len(order), dtype=bool)
    is_first[:1] = True
    for column in dims:
        ordered = column[order]
        is_first[1:] |= ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(is_first)
    sums = {
        name: np.add.reduceat(lines[name][order].astype(np.int64), starts)
        for name in summary.measures
    }
    is_kept = np.logical_or.reduce([column != 0 for column in sums.values()])
    rows = order[starts[is_kept]]
    summed = np.empty(len(rows), dtype=lines.dtype)
    for name in lines.dtype.names or ():
        _set(summary, summed, name, sums[name][is_kept] if name in sums else lines[name][rows])
    return summed, cell[rows]


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

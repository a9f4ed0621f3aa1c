"""Packed rows: many small daily rows in one binary column.

A packed row belongs to one (edition, day, dimensions) key. Its column `packed_dims` has a line for each
combination of the packed dimensions: these first, then the measures, as little-endian integers of 64 bits, or
of 32 where the catalogue declares a column `NARROW`. Packing and unpacking slice one buffer, without a Python
object per line.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from warehouse.catalogue import NARROW, Summary
from warehouse.daily.group_sum import Column

Lines = npt.NDArray[np.void]
"""Lines of packed rows, a field for each column of `layout`."""


@cache
def layout(summary: Summary) -> np.dtype[np.void]:
    """The columns of a line."""
    names = (*summary.packed_dims, *summary.measures)
    return np.dtype([(name, "<i4" if name in NARROW else "<i8") for name in names])


def unpack_bytes(summary: Summary, blobs: Sequence[bytes]) -> tuple[Lines, Column]:
    """The lines of all blobs, and for each of them the index of its blob."""
    columns = layout(summary)
    lines = np.frombuffer(b"".join(blobs), dtype=columns)
    lengths = np.fromiter((len(blob) for blob in blobs), dtype=np.int64, count=len(blobs))
    return lines, np.repeat(np.arange(len(blobs)), lengths // columns.itemsize)


def unpack(summary: Summary, packed: pa.Table) -> pa.Table:
    """Packed rows (key columns and `packed_dims`) as one row per line, in the summary's columns."""
    blobs = packed["packed_dims"].combine_chunks()
    offsets = np.frombuffer(blobs.buffers()[1], dtype=np.int32)[
        blobs.offset : blobs.offset + len(blobs) + 1
    ]
    data = np.frombuffer(blobs.buffers()[2], dtype=np.uint8)[offsets[0] : offsets[-1]]
    lines = data.view(layout(summary))
    rows = np.repeat(np.arange(len(blobs)), np.diff(offsets) // lines.itemsize)
    columns = {name: packed[name].to_numpy()[rows] for name in summary.key}
    columns |= {name: lines[name].astype(np.int64) for name in lines.dtype.names or ()}
    return pa.table({name: columns[name] for name in summary.columns})


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
        column = rows[name].to_numpy()
        lines[name] = column
        if name in NARROW and (lines[name] != column).any():
            raise OverflowError(f"a number of {summary.table}.{name} does not fit into 32 bits")
    offsets = np.append(first, rows.num_rows).astype(np.int64) * lines.itemsize
    blobs = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(first), [None, pa.py_buffer(offsets), pa.py_buffer(lines.tobytes())]
    )
    columns: dict[str, object] = {
        name: column[first] for name, column in zip(summary.key, keys, strict=True)
    }
    return pa.table({**columns, "packed_dims": blobs.cast(pa.binary())})

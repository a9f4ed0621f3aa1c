"""Packed rows: many small daily rows in one binary column.

A packed row belongs to one (edition, day, dimensions) key. Its column `packed_dims` is a matrix of
little-endian 64-bit integers, with a line for each combination of the packed dimensions: these first,
then the measures. Packing and unpacking slice one buffer, without a Python object per line.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from warehouse.catalogue import Summary

Matrix = npt.NDArray[np.int64]
_INT64 = np.dtype("<i8")


def width(summary: Summary) -> int:
    """The columns of the matrix."""
    return len(summary.packed_dims) + len(summary.measures)


def unpack_bytes(blobs: Sequence[bytes], columns: int) -> tuple[Matrix, npt.NDArray[np.int64]]:
    """All blobs as one matrix, and for each of its lines the index of its blob."""
    lines = np.frombuffer(b"".join(blobs), dtype=_INT64).reshape(-1, columns)
    lengths = np.fromiter((len(blob) for blob in blobs), dtype=np.int64, count=len(blobs))
    return lines, np.repeat(np.arange(len(blobs)), lengths // (8 * columns))


def unpack(summary: Summary, packed: pa.Table) -> pa.Table:
    """Packed rows (key columns and `packed_dims`) as one row per line, in the summary's columns."""
    blobs = packed["packed_dims"].combine_chunks()
    offsets = np.frombuffer(blobs.buffers()[1], dtype=np.int32)[
        blobs.offset : blobs.offset + len(blobs) + 1
    ]
    data = np.frombuffer(blobs.buffers()[2], dtype=np.uint8)[offsets[0] : offsets[-1]]
    lines = data.view(_INT64).reshape(-1, width(summary))
    rows = np.repeat(np.arange(len(blobs)), np.diff(offsets) // (8 * width(summary)))
    columns = {name: packed[name].to_numpy()[rows] for name in summary.key}
    for index, name in enumerate((*summary.packed_dims, *summary.measures)):
        columns[name] = np.ascontiguousarray(lines[:, index])
    return pa.table({name: columns[name] for name in summary.columns})


def pack(summary: Summary, rows: pa.Table) -> pa.Table:
    """Rows, each combination once, as packed rows (key columns and `packed_dims`)."""
    rows = rows.sort_by([(name, "ascending") for name in (*summary.key, *summary.packed_dims)])
    keys = [rows[name].to_numpy() for name in summary.key]
    is_first = np.ones(rows.num_rows, dtype=bool)
    if rows.num_rows:
        is_first[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in keys])
    first = np.flatnonzero(is_first)
    lines = np.empty((rows.num_rows, width(summary)), dtype=_INT64)
    for index, name in enumerate((*summary.packed_dims, *summary.measures)):
        lines[:, index] = rows[name].to_numpy()
    offsets = np.append(first, rows.num_rows).astype(np.int64) * 8 * width(summary)
    blobs = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(first), [None, pa.py_buffer(offsets), pa.py_buffer(lines.tobytes())]
    )
    columns: dict[str, object] = {
        name: column[first] for name, column in zip(summary.key, keys, strict=True)
    }
    return pa.table({**columns, "packed_dims": blobs.cast(pa.binary())})

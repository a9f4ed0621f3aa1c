"""Cells: many small daily rows packed into one binary column.

A packed row holds the cells of one (edition, day, dimensions) key: a matrix of little-endian 64-bit
integers, a line a cell, cell dimensions first, then measures. Packing and unpacking slice one
buffer; no Python object is made per cell.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from warehouse.catalogue import Summary

Matrix = npt.NDArray[np.int64]
_CELL = np.dtype("<i8")


def width(summary: Summary) -> int:
    return len(summary.cells) + len(summary.measures)


def unpack_bytes(blobs: Sequence[bytes], columns: int) -> tuple[Matrix, npt.NDArray[np.int64]]:
    """Blobs as one matrix of cells, and for each cell the position of its blob."""
    cells = np.frombuffer(b"".join(blobs), dtype=_CELL).reshape(-1, columns)
    lengths = np.fromiter((len(blob) for blob in blobs), dtype=np.int64, count=len(blobs))
    return cells, np.repeat(np.arange(len(blobs)), lengths // (8 * columns))


def unpack(summary: Summary, packed: pa.Table) -> pa.Table:
    """Packed rows (key columns and `cells`) as one row a cell, in the summary's columns."""
    blobs = packed["cells"].combine_chunks()
    offsets = np.frombuffer(blobs.buffers()[1], dtype=np.int32)[
        blobs.offset : blobs.offset + len(blobs) + 1
    ]
    data = np.frombuffer(blobs.buffers()[2], dtype=np.uint8)[offsets[0] : offsets[-1]]
    cells = data.view(_CELL).reshape(-1, width(summary))
    positions = np.repeat(np.arange(len(blobs)), np.diff(offsets) // (8 * width(summary)))
    columns = {name: packed[name].to_numpy()[positions] for name in summary.key}
    for place, name in enumerate((*summary.cells, *summary.measures)):
        columns[name] = np.ascontiguousarray(cells[:, place])
    return pa.table({name: columns[name] for name in summary.columns})


def pack(summary: Summary, rows: pa.Table) -> pa.Table:
    """One row a cell, each combination once, as packed rows (key columns and `cells`)."""
    rows = rows.sort_by([(name, "ascending") for name in (*summary.key, *summary.cells)])
    keys = [rows[name].to_numpy() for name in summary.key]
    starts = np.ones(rows.num_rows, dtype=bool)
    if rows.num_rows:
        starts[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in keys])
    first = np.flatnonzero(starts)
    cells = np.empty((rows.num_rows, width(summary)), dtype=_CELL)
    for place, name in enumerate((*summary.cells, *summary.measures)):
        cells[:, place] = rows[name].to_numpy()
    offsets = np.append(first, rows.num_rows).astype(np.int64) * 8 * width(summary)
    blobs = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(first), [None, pa.py_buffer(offsets), pa.py_buffer(cells.tobytes())]
    )
    columns: dict[str, object] = {
        name: column[first] for name, column in zip(summary.key, keys, strict=True)
    }
    return pa.table({**columns, "cells": blobs.cast(pa.binary())})

"""Rows as columns: a frame, or plain arrays by name.

Frames are what rows are joined and cut in. Arrays are what figures are computed from: reading a
column out of a frame costs more than most computations on a small one.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from jobs.arrays.group_keys import Column

Columns: TypeAlias = pd.DataFrame | Mapping[str, Column]
# Row indexes or a mask.
Rows: TypeAlias = npt.NDArray[np.generic]
T = TypeVar("T", pd.DataFrame, dict[str, Column])


def int_columns(frame: pd.DataFrame, names: Sequence[str]) -> dict[str, Column]:
    """These columns of a frame, all of them numbers, as arrays."""
    block = frame if list(frame) == list(names) else frame[list(names)]
    return dict(zip(names, np.ascontiguousarray(block.to_numpy(np.int64).T), strict=True))


def int_column(columns: Columns, name: str) -> Column:
    """One column as an array. (That of an empty frame may have any type.)"""
    return np.asarray(columns[name], dtype=np.int64)


def take(columns: Columns, rows: Rows, names: Sequence[str]) -> dict[str, Column]:
    """These columns of these rows."""
    return {name: int_column(columns, name)[rows] for name in names}


def take_rows(columns: Columns, rows: Rows) -> dict[str, Column]:
    """All columns, which are numbers, of these rows."""
    return take(columns, rows, list(columns))


def row_count(columns: Columns) -> int:
    """The number of rows. There must be at least one column."""
    return len(next(iter(columns.values()))) if isinstance(columns, Mapping) else len(columns)


def without_rows(columns: Columns) -> dict[str, Column]:
    """The columns without any row."""
    return dict.fromkeys(columns, np.empty(0, dtype=np.int64))


def those(rows: T, is_own: pd.Series | npt.NDArray[np.bool_]) -> T:
    """The rows of a mask. Where these are all, nothing is copied."""
    mask = np.asarray(is_own)
    if mask.all():
        return rows
    return rows[mask] if isinstance(rows, pd.DataFrame) else take_rows(rows, mask)

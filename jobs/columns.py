"""Rows column by column: what rollups and facts read, be it a frame or plain arrays.

A frame is what rows are joined and cut in; arrays are what is worked out column by column. To ask a
frame for a column costs more than most of what is then done with a small one.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from jobs.codes import Column

Source: TypeAlias = pd.DataFrame | Mapping[str, Column]
# Places or a mask.
Rows: TypeAlias = npt.NDArray[np.generic]


def columns(frame: pd.DataFrame, names: Sequence[str]) -> dict[str, Column]:
    """These columns of a frame, which are numbers, at once."""
    block = frame if list(frame) == list(names) else frame[list(names)]
    return dict(zip(names, np.ascontiguousarray(block.to_numpy(np.int64).T), strict=True))


def frame(columns: Mapping[str, Column]) -> pd.DataFrame:
    """Columns of equal length as a frame of one block."""
    return pd.DataFrame(np.stack([*columns.values()]).T, columns=[*columns], copy=False)


def ints(source: Source, name: str) -> Column:
    """A column as an array; that of an empty frame may have any type."""
    return np.asarray(source[name], dtype=np.int64)


def take(source: Source, rows: Rows, names: Sequence[str]) -> dict[str, Column]:
    """These columns of these rows."""
    return {name: ints(source, name)[rows] for name in names}


def only(source: Source, rows: Rows) -> dict[str, Column]:
    """All columns, which are numbers, of these rows."""
    return take(source, rows, list(source))


def size(source: Source) -> int:
    """The number of rows (of at least one column)."""
    return len(next(iter(source.values()))) if isinstance(source, Mapping) else len(source)


def without(source: Source) -> dict[str, Column]:
    """The same columns, without a row."""
    return dict.fromkeys(source, np.empty(0, dtype=np.int64))

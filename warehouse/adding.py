"""Adding up columns by keys, without an object per line."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[np.int64]

# So many numbers for each line may go unused before a column is numbered anew.
_SPARSE = 4


def add_up(keys: Sequence[Column], measures: Sequence[Column]) -> tuple[list[Column], list[Column]]:
    """The distinct combinations of the keys (at least one), ascending, and each measure's sum for
    each of them. Sums are of 64-bit integers, exact."""
    lines = len(keys[0])
    codes, size = np.zeros(lines, dtype=np.int64), 1
    for key in keys:
        places, count = _numbered(key)
        codes, size = _numbered(codes * count + places, size * count)
    any_line = np.full(size, -1, dtype=np.int64)
    any_line[codes] = np.arange(lines)
    present = any_line >= 0
    sums = []
    for measure in measures:
        total = np.zeros(size, dtype=np.int64)
        np.add.at(total, codes, measure)
        sums.append(total[present])
    return [key[any_line[present]] for key in keys], sums


def _numbered(key: Column, size: int = 0) -> tuple[Column, int]:
    """A column as numbers from 0 up to a size, in the same order. Where its span is short they are
    its own differences; only what is spread wide, as ids are, has to be sorted."""
    if not len(key):
        return key, 0
    low = 0 if size else int(key.min())
    size = size or int(key.max()) - low + 1
    if size <= _SPARSE * len(key):
        return key - low, size
    values, places = np.unique(key, return_inverse=True)
    return places, len(values)


def relabel(ids: Column, labels: Mapping[int, int]) -> Column:
    """Each id's label; every id has one."""
    known, places = np.unique(ids, return_inverse=True)
    return np.array([labels[each] for each in known.tolist()], dtype=np.int64)[places]

"""Adding up columns by keys, without an object per line."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Column = npt.NDArray[np.int64]

# So many numbers for each line may go unused before a column is numbered anew.
_SPARSE = 4
# From so many lines on, of which few are distinct, a hash finds them sooner than a sort.
_MANY = 4_096


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
    # Numbers, not a mask: of many codes few may be there.
    present = np.flatnonzero(any_line >= 0)
    sums = []
    for measure in measures:
        sum_of_code = np.zeros(size, dtype=np.int64)
        np.add.at(sum_of_code, codes, measure)
        sums.append(sum_of_code[present])
    places = any_line[present]
    return [key[places] for key in keys], sums


def total(columns: Mapping[str, Column], by: Sequence[str]) -> dict[str, Column]:
    """Columns of equal length, those named in `by` (at least one) as keys, the others added up."""
    measures = [name for name in columns if name not in by]
    keys, sums = add_up([columns[name] for name in by], [columns[name] for name in measures])
    return dict(zip((*by, *measures), (*keys, *sums), strict=True))


def distinct(ids: Column) -> tuple[Column, Column]:
    """The distinct values, ascending, and the place of each line's value among them."""
    if len(ids) < _MANY:
        return np.unique(ids, return_inverse=True)
    encoded = pa.array(ids).dictionary_encode()
    values, places = encoded.dictionary.to_numpy(), encoded.indices.to_numpy()
    order = values.argsort()
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return values[order], ranks[places]


def _numbered(key: Column, size: int = 0) -> tuple[Column, int]:
    """A column as numbers from 0 up to a size, in the same order. Where its span is short they are
    its own differences; only what is spread wide, as ids are, has to be looked up."""
    if not len(key):
        return key, 0
    low = 0 if size else int(key.min())
    size = size or int(key.max()) - low + 1
    if size <= _SPARSE * len(key):
        return key - low, size
    values, places = distinct(key)
    return places, len(values)

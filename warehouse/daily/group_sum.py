"""Sums of integer columns by integer keys. Jobs and answers group in no other way."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Column = npt.NDArray[np.int64]

# Codes of several keys stay below this.
_MAX_SIZE = 2**62
# A key whose values span more than this many numbers per row is encoded first.
_MAX_UNUSED_PER_ROW = 4
# Above this row count, dictionary encoding beats sorting when few values are distinct.
_HASH_FROM_ROWS = 4_096


def add_up(keys: Sequence[Column], measures: Sequence[Column]) -> tuple[list[Column], list[Column]]:
    """The distinct combinations of the keys (at least one), ascending, and each measure's sum for
    each of them. Sums are of 64-bit integers, exact."""
    rows = len(keys[0])
    codes, size = np.zeros(rows, dtype=np.int64), 1
    for key in keys:
        key_codes, count = _encoded(key)
        # Codes are looked up as late as they fit into one integer: each time costs as much as the sums.
        if size * count >= _MAX_SIZE:
            codes, size = _encoded(codes, size)
        codes, size = codes * count + key_codes, size * count
    codes, size = _encoded(codes, size)
    any_row = np.full(size, -1, dtype=np.int64)
    any_row[codes] = np.arange(rows)
    present = np.flatnonzero(any_row >= 0)
    sums = []
    for measure in measures:
        sum_of_code = np.zeros(size, dtype=np.int64)
        np.add.at(sum_of_code, codes, measure)
        sums.append(sum_of_code[present])
    return [key[any_row[present]] for key in keys], sums


def total(columns: Mapping[str, Column], by: Sequence[str]) -> dict[str, Column]:
    """Columns of equal length: those named in `by` (at least one) are the keys, the others are
    summed. Returns the columns `by`, then the sums."""
    measures = [name for name in columns if name not in by]
    keys, sums = add_up([columns[name] for name in by], [columns[name] for name in measures])
    return dict(zip((*by, *measures), (*keys, *sums), strict=True))


def distinct(values: Column) -> tuple[Column, Column]:
    """The distinct values, ascending, and for each row the index of its value among them."""
    if len(values) < _HASH_FROM_ROWS:
        return np.unique(values, return_inverse=True)
    encoded = pa.array(values).dictionary_encode()
    dictionary, indices = encoded.dictionary.to_numpy(), encoded.indices.to_numpy()
    order = dictionary.argsort()
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return dictionary[order], ranks[indices]


def _encoded(key: Column, size: int = 0) -> tuple[Column, int]:
    """A key as codes in the same order, from 0 up to a size. `size`: the key is from 0 up to it.

    A key with a short span is its own code; ids, which are spread wide, have to be looked up.
    """
    if not len(key):
        return key, 0
    low = 0 if size else int(key.min())
    size = size or int(key.max()) - low + 1
    if size <= _MAX_UNUSED_PER_ROW * len(key):
        return key - low, size
    values, codes = distinct(key)
    return codes, len(values)

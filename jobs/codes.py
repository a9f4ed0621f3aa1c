"""Keys of several 64-bit columns as one small integer per row, column by column: what is grouped by,
looked up and joined on, without sorting and without a Python object per row."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

Column: TypeAlias = npt.NDArray[np.int64]

# Codes stay below this, so that one more bit never overflows.
_ROOM = 2**62
# A column whose values lie this close together is its own code, less its minimum.
_NARROW = 2**16
# With more codes than so many a row, they are hashed to make them dense; with fewer, counted off.
_SPARSE = 8


@dataclass(frozen=True)
class Codes:
    """One code per row, equal where the key is equal; all of them in range(size)."""

    codes: Column
    size: int

    def dense(self) -> "Codes":
        """The same, with every code in range(size) in use."""
        if self.size > _SPARSE * len(self.codes):
            codes, uniques = pd.factorize(self.codes)
            return Codes(codes, len(uniques))
        used = np.zeros(self.size, dtype=bool)
        used[self.codes] = True
        rank = np.cumsum(used) - 1
        return Codes(rank[self.codes], int(rank[-1]) + 1 if self.size else 0)

    def places(self) -> Column:
        """For each code (of dense codes) one row that has it."""
        places = np.empty(self.size, np.int64)
        places[self.codes] = np.arange(len(self.codes))
        return places


def code(*keys: Column) -> Codes:
    """Codes of a key that consists of one or more columns of equal length."""
    return combine(*map(_code, keys))


def combine(*keys: Codes) -> Codes:
    """Codes of a key that consists of keys already coded; ordered as these where there is room."""
    joint = keys[0]
    for key in keys[1:]:
        if joint.size * key.size >= _ROOM:
            joint = joint.dense()
        joint = Codes(joint.codes * key.size + key.codes, joint.size * key.size)
    return joint


def lookup(keys: Column, wanted: Column) -> Column:
    """The place of each wanted key among keys that are all different, -1 where it is not there."""
    return np.asarray(pd.Index(keys).get_indexer(pd.Index(wanted)), dtype=np.int64)


def _code(key: Column) -> Codes:
    if not len(key):
        return Codes(key, 1)
    low, high = int(key.min()), int(key.max())
    if high - low < _NARROW:
        return Codes(key - low, high - low + 1)
    codes, uniques = pd.factorize(key)
    return Codes(codes, len(uniques))

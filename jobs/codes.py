"""Keys of several 64-bit columns as one small integer per row, column by column: what is grouped by,
looked up and joined on, without sorting and without a Python object per row."""

from collections.abc import Mapping, Sequence
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


def ascending(*columns: Column) -> Column:
    """The distinct values of columns, sorted. (`np.unique` hashes first, which takes fifty times as long.)"""
    values = np.sort(np.concatenate(columns))
    return values[np.diff(values, prepend=values[:1] - 1) != 0]


def minus(ids: Column, others: Column) -> Column:
    """The distinct ids that are not among the others (which are all different), sorted."""
    return ascending(ids[lookup(others, ids) < 0])


def distinct(rows: Mapping[str, Column]) -> dict[str, Column]:
    """Each combination of these columns once."""
    places = code(*rows.values()).dense().places()
    return {name: column[places] for name, column in rows.items()}


def matches(ours: Sequence[Column], theirs: Sequence[Column]) -> tuple[Column, Column]:
    """The places of every two rows, one of ours and one of theirs, that have the same key."""
    joint = code(*map(np.concatenate, zip(ours, theirs, strict=True))).dense()
    left, right = np.split(joint.codes, [len(ours[0])])
    order = np.argsort(right, kind="stable")
    counts = np.bincount(right, minlength=joint.size)
    partners = counts[left]
    # A row's partners lie in one run of the ordered rows: from the first with its key.
    first = (np.cumsum(counts) - counts)[left] - (np.cumsum(partners) - partners)
    places = np.repeat(first, partners) + np.arange(partners.sum())
    return np.repeat(np.arange(len(left)), partners), order[places]


def find(keys: Sequence[Column], wanted: Sequence[Column]) -> Column:
    """For each wanted key a place at which the keys have it, -1 where they do not."""
    joint = code(*map(np.concatenate, zip(keys, wanted, strict=True))).dense()
    ours, theirs = np.split(joint.codes, [len(keys[0])])
    places = np.full(joint.size, -1)
    places[ours] = np.arange(len(ours))
    return places[theirs]


def latest(groups: Codes, at: Column, texts: pd.Series) -> Column:
    """For each group (dense codes) the row with the greatest instant; ties: the greater text."""
    return _extreme(groups, at, texts, 1)


def earliest(groups: Codes, at: Column, texts: pd.Series | None = None) -> Column:
    """For each group (dense codes) the row with the least instant; ties: the smaller text, or any."""
    return _extreme(groups, -at, texts, -1)


def _extreme(groups: Codes, at: Column, texts: pd.Series | None, direction: int) -> Column:
    greatest = np.full(groups.size, np.iinfo(np.int64).min)
    np.maximum.at(greatest, groups.codes, at)
    rows = np.flatnonzero(at == greatest[groups.codes])
    units = groups.codes[rows]
    places = np.empty(groups.size, np.int64)
    places[units] = rows
    if texts is None:
        return places
    # Texts are compared only where the instant does not decide; the last one written stays.
    rivals = rows[np.bincount(units, minlength=groups.size)[units] > 1]
    if len(rivals):
        rivals = rivals[texts.array.take(rivals).argsort()[::direction]]
        places[groups.codes[rivals]] = rivals
    return places


def _code(key: Column) -> Codes:
    if not len(key):
        return Codes(key, 1)
    low, high = int(key.min()), int(key.max())
    if high - low < _NARROW:
        return Codes(key - low, high - low + 1)
    codes, uniques = pd.factorize(key)
    return Codes(codes, len(uniques))

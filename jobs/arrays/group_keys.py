"""Keys of one or more 64-bit columns as one small integer per row: to group, look up and join by.

Nothing is sorted and no Python object is made per row. All columns are int64 arrays of equal length.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

Column: TypeAlias = npt.NDArray[np.int64]

# Keys stay below this, so that adding one more bit never overflows.
_MAX_SIZE = 2**62
# A column whose values span less than this is its own key, less its minimum.
_MAX_SPAN = 2**16
# Above this many possible keys per row, a hash makes keys dense; below, a table of flags does.
_MAX_UNUSED_PER_ROW = 8


@dataclass(frozen=True)
class GroupKeys:
    """One key per row, equal where the values are equal; all of them in range(size)."""

    keys: Column
    size: int

    def dense(self) -> "GroupKeys":
        """Keys of the same groups, with every number in range(size) in use."""
        if self.size > _MAX_UNUSED_PER_ROW * len(self.keys):
            keys, uniques = pd.factorize(self.keys)
            return GroupKeys(keys, len(uniques))
        used = np.zeros(self.size, dtype=bool)
        used[self.keys] = True
        rank = np.cumsum(used) - 1
        return GroupKeys(rank[self.keys], int(rank[-1]) + 1 if self.size else 0)

    def any_row(self) -> Column:
        """The index of one row that has the key, for each of the dense keys."""
        rows = np.empty(self.size, np.int64)
        rows[self.keys] = np.arange(len(self.keys))
        return rows


def group_keys(*columns: Column) -> GroupKeys:
    """The keys of the combinations of values in these columns."""
    return combine(*map(_keys_of, columns))


def combine(*columns: GroupKeys) -> GroupKeys:
    """The keys of combinations of columns that are keys already; ordered like these where they fit
    into one integer."""
    joint = columns[0]
    for column in columns[1:]:
        if joint.size * column.size >= _MAX_SIZE:
            joint = joint.dense()
        joint = GroupKeys(joint.keys * column.size + column.keys, joint.size * column.size)
    return joint


def index_of(values: Column, wanted: Column) -> Column:
    """The index of each wanted value among values that are all different, -1 where it is missing."""
    return np.asarray(pd.Index(values).get_indexer(pd.Index(wanted)), dtype=np.int64)


def index_of_rows(columns: Sequence[Column], wanted: Sequence[Column]) -> Column:
    """The index of an equal row among the columns for each wanted row, -1 where there is none."""
    joint = group_keys(*map(np.concatenate, zip(columns, wanted, strict=True))).dense()
    ours, theirs = np.split(joint.keys, [len(columns[0])])
    index = np.full(joint.size, -1)
    index[ours] = np.arange(len(ours))
    return index[theirs]


def sorted_unique(*columns: Column) -> Column:
    """The distinct values of the columns, ascending. (`np.unique` hashes first, which is slower.)"""
    values = np.sort(np.concatenate(columns))
    return values[np.diff(values, prepend=values[:1] - 1) != 0]


def except_ids(ids: Column, others: Column) -> Column:
    """The distinct ids, ascending, that are not among the others (which are all different)."""
    return sorted_unique(ids[index_of(others, ids) < 0])


def distinct_rows(columns: Mapping[str, Column]) -> dict[str, Column]:
    """Each combination of these columns once."""
    rows = group_keys(*columns.values()).dense().any_row()
    return {name: column[rows] for name, column in columns.items()}


def join(left: Sequence[Column], right: Sequence[Column]) -> tuple[Column, Column]:
    """The indexes of every two rows, one of each side, that are equal in all columns."""
    joint = group_keys(*map(np.concatenate, zip(left, right, strict=True))).dense()
    ours, theirs = np.split(joint.keys, [len(left[0])])
    order = np.argsort(theirs, kind="stable")
    counts = np.bincount(theirs, minlength=joint.size)
    partners = counts[ours]
    # The partners of a row are one run of the ordered rows, from the first with its key.
    first = (np.cumsum(counts) - counts)[ours] - (np.cumsum(partners) - partners)
    positions = np.repeat(first, partners) + np.arange(partners.sum())
    return np.repeat(np.arange(len(ours)), partners), order[positions]


def latest(groups: GroupKeys, at: Column, texts: pd.Series) -> Column:
    """The row with the greatest instant of each group (dense keys); ties: the greater text."""
    return _extreme(groups, at, texts, 1)


def earliest(groups: GroupKeys, at: Column, texts: pd.Series | None = None) -> Column:
    """The row with the least instant of each group (dense keys); ties: the smaller text, or any."""
    return _extreme(groups, -at, texts, -1)


def _extreme(groups: GroupKeys, at: Column, texts: pd.Series | None, direction: int) -> Column:
    greatest = np.full(groups.size, np.iinfo(np.int64).min)
    np.maximum.at(greatest, groups.keys, at)
    rows = np.flatnonzero(at == greatest[groups.keys])
    winners = groups.keys[rows]
    result = np.empty(groups.size, np.int64)
    result[winners] = rows
    if texts is None:
        return result
    # Texts are compared only where the instant does not decide; the last one assigned stays.
    tied = rows[np.bincount(winners, minlength=groups.size)[winners] > 1]
    if len(tied):
        tied = tied[texts.array.take(tied).argsort()[::direction]]
        result[groups.keys[tied]] = tied
    return result


def _keys_of(column: Column) -> GroupKeys:
    if not len(column):
        return GroupKeys(column, 1)
    low, high = int(column.min()), int(column.max())
    if high - low < _MAX_SPAN:
        return GroupKeys(column - low, high - low + 1)
    keys, uniques = pd.factorize(column)
    return GroupKeys(keys, len(uniques))

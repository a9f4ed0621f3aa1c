"""Sums of facts by integer keys, which every rollup ends in.

A key of several 64-bit columns is coded into one small integer per row, column by column, and the
measures are added up under that code: no sort, no Python object per row, and exact, since money
never passes through a float.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from warehouse.catalogue import SUMMARY
from warehouse.days import NO_DAY

Column: TypeAlias = npt.NDArray[np.int64]
Source: TypeAlias = pd.DataFrame | Mapping[str, Column]
# A column of the source by its name, the same number for every row, or a column of its own.
Value: TypeAlias = str | int | Column

# Codes stay below this, so that one more bit never overflows.
_ROOM = 2**62
# A column whose values lie this close together is its own code, less its minimum.
_NARROW = 2**16


@dataclass(frozen=True)
class Part:
    """Rows that count for a summary.

    `columns` names its measures (those left out are 0) and the dimensions that are not columns of
    the same name in `source`.
    """

    source: Source
    columns: Mapping[str, Value]


@dataclass(frozen=True)
class Codes:
    """One code per row, equal where the key is equal; all of them in range(size)."""

    codes: Column
    size: int

    def dense(self) -> "Codes":
        """The same, with every code in range(size) in use."""
        codes, uniques = pd.factorize(self.codes)
        return Codes(codes, len(uniques))

    def places(self) -> Column:
        """For each code (of dense codes) one row that has it."""
        places = np.empty(self.size, np.int64)
        places[self.codes] = np.arange(len(self.codes))
        return places


def part(source: Source, **columns: Value) -> Part:
    return Part(source, columns)


def total(name: str, *parts: Part) -> pd.DataFrame:
    """The parts' measures summed: the summary's columns, a row for each distinct combination.

    Rows without a day (NO_DAY) are left out: what has not happened counts nowhere.
    """
    summary = SUMMARY[name]
    dims = ("edition", "day", *summary.dims, *summary.cells)
    rows = [_resolve(one, dims) for one in parts]
    keys = {dim: np.concatenate([columns[dim] for columns in rows]) for dim in dims}
    groups = code(*keys.values()).dense()
    place = groups.places()
    result = {dim: key[place] for dim, key in keys.items()}
    result |= {measure: np.zeros(groups.size, np.int64) for measure in summary.measures}
    ends = np.cumsum([len(columns["day"]) for columns in rows])
    for columns, codes in zip(rows, np.split(groups.codes, ends[:-1]), strict=True):
        for measure in summary.measures:
            if measure in columns:
                np.add.at(result[measure], codes, columns[measure])
    return pd.DataFrame(result, copy=False)


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


def ints(source: Source, name: str) -> Column:
    """A column as an array; that of an empty frame may have any type."""
    return np.asarray(source[name], dtype=np.int64)


def lookup(keys: Column, wanted: Column) -> Column:
    """The place of each wanted key among keys that are all different, -1 where it is not there."""
    return np.asarray(pd.Index(keys).get_indexer(pd.Index(wanted)), dtype=np.int64)


def take(source: Source, rows: npt.NDArray[np.generic], names: Sequence[str]) -> dict[str, Column]:
    """These columns of these rows (places or a mask)."""
    return {name: ints(source, name)[rows] for name in names}


def _code(key: Column) -> Codes:
    if not len(key):
        return Codes(key, 1)
    low, high = int(key.min()), int(key.max())
    if high - low < _NARROW:
        return Codes(key - low, high - low + 1)
    codes, uniques = pd.factorize(key)
    return Codes(codes, len(uniques))


def _resolve(one: Part, dims: Sequence[str]) -> dict[str, Column]:
    """The part's columns as arrays of equal length, without the rows that have no day."""
    values: dict[str, Value] = {dim: dim for dim in dims} | dict(one.columns)
    day = values["day"]
    days = ints(one.source, day) if isinstance(day, str) else np.asarray(day, np.int64)
    happened = days != NO_DAY
    columns = {}
    for name, value in values.items():
        if isinstance(value, int):
            columns[name] = np.full(np.count_nonzero(happened), value, np.int64)
        else:
            column = ints(one.source, value) if isinstance(value, str) else value
            columns[name] = np.asarray(column[happened], dtype=np.int64)
    return columns

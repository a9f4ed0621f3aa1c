"""Sums of facts by integer keys, which every rollup ends in.

A key is coded into one small integer per row (`jobs/codes.py`), and the measures are added up under
that code: no sort, no Python object per row, and exact, since money never passes through a float.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pandas as pd

from jobs.codes import Column, code
from jobs.columns import Source, frame, ints
from warehouse.catalogue import SUMMARY
from warehouse.days import NO_DAY

# A column of the source by its name, the same number for every row, or a column of its own.
Value: TypeAlias = str | int | Column


@dataclass(frozen=True)
class Part:
    """Rows that count for a summary.

    `columns` names its measures (those left out are 0) and the dimensions that are not columns of
    the same name in `source`.
    """

    source: Source
    columns: Mapping[str, Value]


def part(source: Source, **columns: Value) -> Part:
    return Part(source, columns)


def total(name: str, *parts: Part) -> pd.DataFrame:
    """The parts' measures summed: the summary's columns, a row for each distinct combination.

    Rows without a day (NO_DAY) are left out: what has not happened counts nowhere.
    """
    return frame(sums(name, *parts))


def sums(name: str, *parts: Part) -> dict[str, Column]:
    """As `total`, column by column."""
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
    return result


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

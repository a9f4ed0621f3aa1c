"""Sums of facts by the dimensions of a summary, which every rollup ends in.

Sums are of 64-bit integers, exact: money never passes through a float.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from jobs.arrays.columns import Columns, int_column
from jobs.arrays.group_keys import Column
from warehouse.catalogue import SUMMARY
from warehouse.daily import group_sum
from warehouse.domain.time import NO_DAY

# A column of the rows by its name, the same number for every row, or a column of its own.
Value: TypeAlias = str | int | Column

DailyRows: TypeAlias = dict[str, Column]
"""Rows of a daily summary: its columns by name, each combination of dimensions once."""


@dataclass(frozen=True)
class Part:
    """Rows that count for a summary.

    `columns` names its measures (those left out are 0) and the dimensions that are not columns of
    the same name in `rows`.
    """

    rows: Columns
    columns: Mapping[str, Value]


def part(rows: Columns, **columns: Value) -> Part:
    return Part(rows, columns)


def total(name: str, *parts: Part) -> DailyRows:
    """The parts' measures summed: the summary's columns, one row for each distinct combination.

    Rows without a day (NO_DAY) are left out: something that has not happened counts nowhere.
    """
    summary = SUMMARY[name]
    dims = ("edition", "day", *summary.dims, *summary.packed_dims)
    # Each part is summed by itself first: only the few sums are then filled up with zeros.
    summed = [group_sum.total(_columns(one, dims), dims) for one in parts]
    rows = [len(columns["day"]) for columns in summed]
    columns = {
        column: np.concatenate(
            [
                part[column] if column in part else np.zeros(count, np.int64)
                for part, count in zip(summed, rows, strict=True)
            ]
        )
        for column in summary.columns
    }
    return group_sum.total(columns, dims) if len(parts) > 1 else columns


def _columns(one: Part, dims: Sequence[str]) -> dict[str, Column]:
    """The part's columns as arrays of equal length, without the rows that have no day."""
    values: dict[str, Value] = {dim: dim for dim in dims} | dict(one.columns)
    day = values["day"]
    days = int_column(one.rows, day) if isinstance(day, str) else np.asarray(day, np.int64)
    happened = days != NO_DAY
    columns = {}
    for name, value in values.items():
        if isinstance(value, int):
            columns[name] = np.full(np.count_nonzero(happened), value, np.int64)
        else:
            column = int_column(one.rows, value) if isinstance(value, str) else value
            columns[name] = np.asarray(column[happened], dtype=np.int64)
    return columns

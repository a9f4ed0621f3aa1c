"""The only reader of daily rows: sums over a range of days, by any of a summary's dimensions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
from sqlalchemy import BigInteger, Connection, Select, bindparam, cast, func, select

from warehouse.catalogue import SUMMARY
from warehouse.daily.group_sum import Column, total
from warehouse.daily.packed_rows import unpack_bytes, width
from warehouse.tables import DAILY


@dataclass(frozen=True)
class Sums:
    """Columns of equal length, one row for each distinct combination of the dimensions in `by`.

    Without dimensions there is one row, or none if there was no daily row.
    """

    columns: dict[str, Column]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    def at(self, rows: Column) -> "Sums":
        """The rows with these indices, or where this mask is true."""
        return Sums({name: column[rows] for name, column in self.columns.items()})

    def rows(self) -> Iterator[dict[str, int]]:
        names = list(self.columns)
        for values in zip(*(column.tolist() for column in self.columns.values()), strict=True):
            yield dict(zip(names, values, strict=True))

    def total(self) -> dict[str, int]:
        """The sum of every column (meant for measures); zeros if there is no row."""
        return {name: int(column.sum()) for name, column in self.columns.items()}


def read(
    connection: Connection,
    name: str,
    edition: int,
    first: int,
    last: int,
    *,
    by: Sequence[str] = (),
    where: Mapping[str, int] | None = None,
) -> Sums:
    """Sum the summary `name` over the days `first`..`last` (both included).

    `by`: the dimensions (or packed dimensions, or "day") to group by. `where`: the one value of a
    dimension to read. Returns the columns `by`, then every measure. Packed dimensions can be in `by`,
    not in `where`; for a summary that has them, `by` is not empty.
    """
    summary, where = SUMMARY[name], where or {}
    if summary.packed_dims:
        return Sums(total(read_cells(connection, name, edition, first, last, by, where), by))
    values = {"edition": edition, "first": first, "last": last, **where}
    rows = connection.execute(_statement(name, tuple(by), tuple(where)), values)
    columns = (*by, *summary.measures)
    numbers = np.fromiter(chain.from_iterable(rows), dtype=np.int64).reshape(-1, len(columns))
    return Sums({column: numbers[:, index] for index, column in enumerate(columns)})


def read_cells(
    connection: Connection,
    name: str,
    edition: int,
    first: int,
    last: int,
    by: Sequence[str],
    where: Mapping[str, int] | None = None,
) -> dict[str, Column]:
    """The same columns of a summary with packed dimensions, but a row for each line of each packed
    row, not summed: for callers that group by something else than the dimensions."""
    summary, where = SUMMARY[name], where or {}
    plain = tuple(dim for dim in by if dim not in summary.packed_dims)
    values = {"edition": edition, "first": first, "last": last, **where}
    rows = connection.execute(_packed(name, plain, tuple(where)), values).all()
    lines, row_of_line = unpack_bytes([row[-1] for row in rows], width(summary))
    columns: dict[str, Column] = {}
    for dim in by:
        if dim in plain:
            index = plain.index(dim)
            columns[dim] = np.array([row[index] for row in rows], dtype=np.int64)[row_of_line]
        else:
            columns[dim] = np.ascontiguousarray(lines[:, summary.packed_dims.index(dim)])
    for index, measure in enumerate(summary.measures, len(summary.packed_dims)):
        columns[measure] = np.ascontiguousarray(lines[:, index])
    return columns


@cache
def _statement(name: str, by: tuple[str, ...], where: tuple[str, ...]) -> Select[Any]:
    """The statement for these groups and conditions, built once."""
    summary, table = SUMMARY[name], DAILY[name]
    groups = [table.c[dim] for dim in by]
    measures = [table.c[measure] for measure in summary.measures]
    if {"edition", *by, *where}.issuperset(summary.key):
        # Each group is a single daily row.
        return _restricted(select(*groups, *measures), name, where)
    sums = [cast(func.sum(measure), BigInteger) for measure in measures]
    statement = _restricted(select(*groups, *sums), name, where)
    return statement.group_by(*groups) if groups else statement.having(func.count() > 0)


@cache
def _packed(name: str, plain: tuple[str, ...], where: tuple[str, ...]) -> Select[Any]:
    table = DAILY[name]
    return _restricted(select(*(table.c[dim] for dim in plain), table.c.packed_dims), name, where)


def _restricted(statement: Select[Any], name: str, where: tuple[str, ...]) -> Select[Any]:
    columns = DAILY[name].c
    return statement.where(
        columns.edition == bindparam("edition"),
        columns.day.between(bindparam("first"), bindparam("last")),
        *(columns[dim] == bindparam(dim) for dim in where),
    )


def read_visitors(
    connection: Connection, edition: int, first: int, last: int, form: int
) -> dict[int, int]:
    """The exact number of distinct visitors of a form over a range, by kind (`visitor_kind`).

    A visitor who was active in the range has exactly one first active day in it: the day whose
    previous active day lies before the range, or does not exist.
    """
    values = {"edition": edition, "first": first, "last": last, "form": form}
    return {row[0]: row[1] for row in connection.execute(_visitors(), values)}


@cache
def _visitors() -> Select[Any]:
    table = DAILY["visitor"]
    return (
        select(table.c.kind, cast(func.sum(table.c.visitors), BigInteger))
        .where(
            table.c.edition == bindparam("edition"),
            table.c.form == bindparam("form"),
            table.c.day.between(bindparam("first"), bindparam("last")),
            table.c.previous < bindparam("first"),
        )
        .group_by(table.c.kind)
    )

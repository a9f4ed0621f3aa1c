"""The only reader of daily summaries: the sum over a range of days, by the dimensions asked for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
from sqlalchemy import BigInteger, Connection, Select, bindparam, cast, func, select

from warehouse.adding import Column, total
from warehouse.catalogue import SUMMARY
from warehouse.packing import unpack_bytes, width
from warehouse.schema import DAILY


@dataclass(frozen=True)
class Sums:
    """Columns of equal length, one line for each distinct combination of the dimensions asked for.

    Without dimensions there is one line, or none where there was no daily row at all.
    """

    columns: dict[str, Column]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    def rows(self) -> Iterator[dict[str, int]]:
        names = list(self.columns)
        for values in zip(*(column.tolist() for column in self.columns.values()), strict=True):
            yield dict(zip(names, values, strict=True))

    def total(self) -> dict[str, int]:
        """The sum of every column (meant for measures), zeros where there is no line."""
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

    `by`: the dimensions (or cells, or "day") to keep apart. `where`: dimension -> the one value to
    take. Gives columns `by` followed by every measure. Cells can be in `by`, not in `where`; of a
    summary that has them, `by` names at least one column.
    """
    summary, where = SUMMARY[name], where or {}
    if summary.cells:
        return Sums(total(read_cells(connection, name, edition, first, last, by, where), by))
    values = {"edition": edition, "first": first, "last": last, **where}
    rows = connection.execute(_statement(name, tuple(by), tuple(where)), values)
    columns = (*by, *summary.measures)
    numbers = np.fromiter(chain.from_iterable(rows), dtype=np.int64).reshape(-1, len(columns))
    return Sums({column: numbers[:, place] for place, column in enumerate(columns)})


def read_cells(
    connection: Connection,
    name: str,
    edition: int,
    first: int,
    last: int,
    by: Sequence[str],
    where: Mapping[str, int] | None = None,
) -> dict[str, Column]:
    """The same columns of a summary with cells, but a line for each cell of each day, not added up:
    for who adds them up by something else than they are kept by."""
    summary, where = SUMMARY[name], where or {}
    kept = tuple(dim for dim in by if dim not in summary.cells)
    values = {"edition": edition, "first": first, "last": last, **where}
    rows = connection.execute(_packed(name, kept, tuple(where)), values).all()
    cells, positions = unpack_bytes([row[-1] for row in rows], width(summary))
    columns: dict[str, Column] = {}
    for dim in by:
        if dim in kept:
            place = kept.index(dim)
            columns[dim] = np.array([row[place] for row in rows], dtype=np.int64)[positions]
        else:
            columns[dim] = np.ascontiguousarray(cells[:, summary.cells.index(dim)])
    for place, measure in enumerate(summary.measures, len(summary.cells)):
        columns[measure] = np.ascontiguousarray(cells[:, place])
    return columns


@cache
def _statement(name: str, by: tuple[str, ...], where: tuple[str, ...]) -> Select[Any]:
    """The statement of one kind of question, built once."""
    summary, table = SUMMARY[name], DAILY[name]
    kept = [table.c[dim] for dim in by]
    measures = [table.c[measure] for measure in summary.measures]
    if {"edition", *by, *where}.issuperset(summary.key):
        # Nothing is left to be added up: a row is a line.
        return _narrowed(select(*kept, *measures), name, where)
    sums = [cast(func.sum(measure), BigInteger) for measure in measures]
    statement = _narrowed(select(*kept, *sums), name, where)
    return statement.group_by(*kept) if kept else statement.having(func.count() > 0)


@cache
def _packed(name: str, kept: tuple[str, ...], where: tuple[str, ...]) -> Select[Any]:
    table = DAILY[name]
    return _narrowed(select(*(table.c[dim] for dim in kept), table.c.cells), name, where)


def _narrowed(statement: Select[Any], name: str, where: tuple[str, ...]) -> Select[Any]:
    columns = DAILY[name].c
    return statement.where(
        columns.edition == bindparam("edition"),
        columns.day.between(bindparam("first"), bindparam("last")),
        *(columns[dim] == bindparam(dim) for dim in where),
    )


def read_visitors(
    connection: Connection, edition: int, first: int, last: int, form: int
) -> dict[int, int]:
    """Distinct visitors of a form over a range, exactly, by kind (vocabulary.visitor_kind).

    A visitor who was active in the range has exactly one first active day in it: the one whose
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

"""The only reader of daily summaries: the sum over a range of days, by the dimensions asked for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sqlalchemy import BigInteger, Connection, Select, bindparam, cast, func, select

from warehouse.adding import Column, add_up
from warehouse.catalogue import SUMMARY, Summary
from warehouse.packing import unpack_bytes, width
from warehouse.tables import DAILY


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
    take. Gives columns `by` followed by every measure. Cells can be in `by`, not in `where`.
    """
    summary = SUMMARY[name]
    where = where or {}
    values = {"edition": edition, "first": first, "last": last, **where}
    statement = _statement(name, tuple(by), tuple(where))
    rows = connection.execute(statement, values).all()
    if summary.cells:
        return _sum_cells(summary, rows, by)
    columns = (*by, *summary.measures)
    lines = np.array([tuple(row) for row in rows], dtype=np.int64).reshape(-1, len(columns))
    return Sums({column: lines[:, place] for place, column in enumerate(columns)})


@cache
def _statement(name: str, by: tuple[str, ...], where: tuple[str, ...]) -> Select[Any]:
    """The statement of one kind of question, built once."""
    summary, table = SUMMARY[name], DAILY[name]
    conditions = [
        table.c.edition == bindparam("edition"),
        table.c.day.between(bindparam("first"), bindparam("last")),
        *(table.c[dim] == bindparam(dim) for dim in where),
    ]
    if summary.cells:
        kept = [table.c[dim] for dim in by if dim not in summary.cells]
        return select(*kept, table.c.cells).where(*conditions)
    sums = [cast(func.sum(table.c[measure]), BigInteger) for measure in summary.measures]
    kept = [table.c[dim] for dim in by]
    statement = select(*kept, *sums).where(*conditions)
    return statement.group_by(*kept) if kept else statement.having(func.count() > 0)


def _sum_cells(summary: Summary, rows: Sequence[Any], by: Sequence[str]) -> Sums:
    kept = [dim for dim in by if dim not in summary.cells]
    cells, positions = unpack_bytes([row[-1] for row in rows], width(summary))
    keys = np.array([tuple(row[:-1]) for row in rows], dtype=np.int64).reshape(len(rows), len(kept))
    columns: dict[str, Column] = {}
    for dim in by:
        if dim in summary.cells:
            columns[dim] = cells[:, summary.cells.index(dim)]
        else:
            columns[dim] = keys[positions, kept.index(dim)]
    measures = cells[:, len(summary.cells) :]
    if not len(measures):
        return Sums({column: np.empty(0, np.int64) for column in (*by, *summary.measures)})
    if not by:
        totals = measures.sum(axis=0)
        return Sums({m: totals[place : place + 1] for place, m in enumerate(summary.measures)})
    totals = [np.ascontiguousarray(measures[:, place]) for place in range(measures.shape[1])]
    groups, sums = add_up(list(columns.values()), totals)
    names = (*by, *summary.measures)
    return Sums(dict(zip(names, (*groups, *sums), strict=True)))


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

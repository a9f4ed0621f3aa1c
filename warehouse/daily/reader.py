"""The only reader of daily rows: sums over a range of days, by any of a summary's dimensions."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
from sqlalchemy import BigInteger, Connection, Select, bindparam, cast, func, select

from warehouse.catalogue import OUTCOMES, SUMMARY, Summary
from warehouse.connections.look_ups import read_rows
from warehouse.daily.group_sum import Column, total
from warehouse.daily.packed_rows import Lines, unpack_bytes
from warehouse.domain.vocabulary import VISITOR_LEVELS, VISITOR_TYPES, visitor_kind
from warehouse.tables import DAILY

Chosen = Mapping[str, Column]
"""The form sessions that an answer is about: by attribute (`catalogue.ATTRIBUTES`) the values that they have.
An attribute that is not in it may have any."""


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


@dataclass(frozen=True, slots=True)
class DailyRows:
    """The daily rows of an edition over the days `first`..`last` (both included).

    `name` is that of a summary. `by`: the dimensions (or packed dimensions, or "day") to group by. `where`:
    the one value of a dimension to read. Packed dimensions can be in `by`, not in `where`.
    """

    connection: Connection
    edition: int
    first: int
    last: int
    # These form sessions alone; None: all.
    chosen: Chosen | None = None

    def sums(
        self, name: str, *, by: Sequence[str] = (), where: Mapping[str, int] | None = None
    ) -> Sums:
        """The columns `by`, then the sum of every measure. `by` is not empty for a summary that has packed
        dimensions."""
        summary, where = SUMMARY[name], where or {}
        if summary.packed_dims or self.chosen is not None:
            return Sums(_summed(self.cells(name, by, where), by))
        rows = self._rows(_statement(name, tuple(by), tuple(where)), where)
        return _sums_of(rows, (*by, *summary.measures))

    def cells(
        self, name: str, by: Sequence[str], where: Mapping[str, int] | None = None
    ) -> dict[str, Column]:
        """Columns as in `sums`, of a summary with packed dimensions, but a row for each line of each packed
        row, or for each packed row, not summed: for callers that group by something else."""
        summary, where = SUMMARY[name], where or {}
        measures = summary.measures
        if self.chosen is not None:
            summary = SUMMARY[summary.crossed]
        plain = tuple(dim for dim in by if dim not in summary.packed_dims)
        rows = self._rows(_packed(summary.name, plain, tuple(where)), where)
        return _unpacked(summary, by, plain, rows, measures, self.chosen)

    def outcomes(
        self,
        name: str,
        *,
        within: int | None,
        by: Sequence[str] = (),
        where: Mapping[str, int] | None = None,
    ) -> Sums:
        """The sums of a summary of submissions (`Summary.outcomes`), with their OUTCOMES.

        `within`: only orders less than so many days of 24 h after their submission count; the last day is
        then at most `last_mature_day`, so that every submission is that old. None: all orders, to date; older
        submissions have had more time then, and days of different age cannot be compared.
        """
        summary = SUMMARY[name]
        counts = self.sums(name, by=by, where=where)
        cells = self.cells(summary.outcomes, by if within is None else (*by, "delay"), where)
        if within is not None:
            is_within = cells.pop("delay") < within
            cells = {column: values[is_within] for column, values in cells.items()}
        names = (*by, *summary.measures, *OUTCOMES)
        return Sums(_summed(stacked(names, counts.columns, cells), by))

    def by_age(self, name: str, where: Mapping[str, int], *, today: int, most: int) -> Sums:
        """`submissions` and OUTCOMES as `outcomes` has them within 1, 2, ... up to `most` days: a row for
        each number of days, over the days of submission that are old enough for it."""
        counts = self.sums(name, by=("day",), where=where)
        cells = self.cells(SUMMARY[name].outcomes, ("day", "delay"), where)
        rows = []
        for within in range(1, most + 1):
            until = last_mature_day(self.last, today, within)
            is_counted = (cells["day"] <= until) & (cells["delay"] < within)
            submissions = counts["submissions"][counts["day"] <= until].sum()
            rows.append([submissions, *(cells[outcome][is_counted].sum() for outcome in OUTCOMES)])
        columns = np.array(rows, dtype=np.int64).reshape(-1, 1 + len(OUTCOMES)).T
        return Sums(dict(zip(("submissions", *OUTCOMES), columns, strict=True)))

    def visitors(self, form: int, *, within: int | None) -> dict[int, int]:
        """The exact number of distinct visitors of a form, by kind (`visitor_kind`). `within`: as in
        `outcomes`.

        A visitor who was active in the range has exactly one first active day in it: the day whose
        previous active day lies before the range, or does not exist.
        """
        if self.chosen is not None:
            return self._chosen_visitors(form, within)
        values = {"form": form} if within is None else {"form": form, "within": within}
        return dict(self._rows(_visitors(within is not None), values))

    def _chosen_visitors(self, form: int, within: int | None) -> dict[int, int]:
        """Visitors of some form sessions, counted one by one: links between days are of all sessions."""
        by: tuple[str, ...] = ("visitor", "is_first_session")
        where = {"form": form}
        sessions = self.cells("funnel", by, where)
        outcomes = self.cells("outcome", (*by, "delay"), where)
        is_within = True if within is None else outcomes["delay"] < within
        counts = {}
        for level, cells, is_active in (
            ("visitors", sessions, sessions["views"] != 0),
            ("submitters", sessions, sessions["submissions"] != 0),
            ("purchasers", outcomes, (outcomes["orders"] != 0) & is_within),
        ):
            # Visitor 0 is a session that no visitor is known of.
            is_active = is_active & (cells["visitor"] != 0)
            visitors, is_first = (cells[name][is_active] for name in by)
            of_type = {
                "all": visitors,
                "new": visitors[is_first == 1],
                "returning": visitors[is_first == 0],
            }
            for index, name in enumerate(VISITOR_TYPES):
                kind = visitor_kind(index, VISITOR_LEVELS.index(level))
                counts[kind] = len(np.unique(of_type[name]))
        return counts

    def _rows(self, statement: Select[Any], values: Mapping[str, int]) -> Sequence[Any]:
        days = {"edition": self.edition, "first": self.first, "last": self.last}
        return read_rows(self.connection, statement, {**days, **values})


def read_editions(
    connection: Connection,
    name: str,
    editions: Collection[int],
    first: int,
    last: int,
    *,
    by: Sequence[str] = (),
) -> Sums:
    """Sums as those of `DailyRows`, of several editions in one statement: `edition` is one more column,
    before those of `by`."""
    summary, table, dims = SUMMARY[name], DAILY[name], ("edition", *by)
    plain = [dim for dim in dims if dim not in summary.packed_dims]
    groups = [table.c[dim] for dim in plain]
    is_read = table.c.edition.in_(editions) & table.c.day.between(first, last)
    if summary.packed_dims:
        packed = connection.execute(select(*groups, table.c.packed_dims).where(is_read)).all()
        cells = _unpacked(summary, dims, plain, packed, summary.measures)
        return Sums(total(cells, dims))
    sums = [cast(func.sum(table.c[measure]), BigInteger) for measure in summary.measures]
    rows = connection.execute(select(*groups, *sums).where(is_read).group_by(*groups))
    return _sums_of(rows, (*dims, *summary.measures))


def _sums_of(rows: Iterable[Any], columns: Sequence[str]) -> Sums:
    numbers = np.fromiter(chain.from_iterable(rows), dtype=np.int64).reshape(-1, len(columns))
    return Sums({column: numbers[:, index] for index, column in enumerate(columns)})


@dataclass(frozen=True)
class SubmissionsOfEditions:
    """The submissions of several editions over some days, and their outcomes."""

    counts: Sums
    outcomes: Sums

    def total(self, edition: int, first: int, last: int, *, within: int | None) -> dict[str, int]:
        """The sums that `DailyRows.outcomes` gives for one of the editions, over days among these."""
        is_counted = _is_in(self.counts, edition, first, last)
        is_outcome = _is_in(self.outcomes, edition, first, last)
        if within is not None:
            is_outcome &= self.outcomes["delay"] < within
        counts = {name: self.counts[name][is_counted] for name in SUMMARY["funnel"].measures}
        outcomes = {name: self.outcomes[name][is_outcome] for name in OUTCOMES}
        return {name: int(column.sum()) for name, column in {**counts, **outcomes}.items()}


def read_submissions(
    connection: Connection, editions: Collection[int], first: int, last: int
) -> SubmissionsOfEditions:
    """Read submissions with two statements, however many editions there are."""
    return SubmissionsOfEditions(
        read_editions(connection, "funnel", editions, first, last, by=("day",)),
        read_editions(connection, "outcome", editions, first, last, by=("day", "delay")),
    )


def _is_in(sums: Sums, edition: int, first: int, last: int) -> Column:
    rows: Column = (sums["edition"] == edition) & (first <= sums["day"]) & (sums["day"] <= last)
    return rows


def _unpacked(
    summary: Summary,
    by: Sequence[str],
    plain: Sequence[str],
    rows: Sequence[Any],
    measures: Sequence[str],
    chosen: Chosen | None = None,
) -> dict[str, Column]:
    """Columns `by` and measures of rows: the dimensions `plain`, and the packed ones in one value."""
    lines, row_of_line = unpack_bytes(summary, [row[-1] for row in rows])
    # Columns are taken one by one, each aligned first: to copy whole lines takes longer than all else.
    places, answers = (slice(None), 0) if chosen is None else _places(lines, chosen)
    row = row_of_line[places]
    # Where only rows are told apart, their lines, which are neighbours, are summed: rows are far fewer.
    starts = None
    if len(row) and set(by) <= set(plain):
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        row = row[starts]
    columns: dict[str, Column] = {}
    for dim in by:
        if dim in plain:
            index = plain.index(dim)
            columns[dim] = np.array([each[index] for each in rows], dtype=np.int64)[row]
        else:
            columns[dim] = lines[dim].astype(np.int64)[places]
    if answers and "value" in columns:
        columns["value"][:answers] = 0
    for measure in measures:
        column = lines[measure].astype(np.int64)[places]
        columns[measure] = column if starts is None else np.add.reduceat(column, starts)
    return columns


def _places(lines: Lines, chosen: Chosen) -> tuple[Column, int]:
    """The lines of these form sessions, for a summary that names this one as `crossed`; and how many of them,
    the first ones, stand for answers, under value 0."""
    is_chosen = np.ones(len(lines), dtype=bool)
    for name, values in chosen.items():
        column = lines[name]
        is_chosen &= column == values[0] if len(values) == 1 else np.isin(column, values)
    if "is_one" not in (lines.dtype.names or ()):
        return np.flatnonzero(is_chosen), 0
    answers = np.flatnonzero(is_chosen & (lines["is_one"] == 1))
    values = np.flatnonzero(is_chosen & (lines["value"] != 0))
    return np.concatenate([answers, values]), len(answers)


def _summed(columns: dict[str, Column], by: Sequence[str]) -> dict[str, Column]:
    """Sums as `group_sum.total` has them; without keys one row, or none of no rows."""
    if by:
        return total(columns, by)
    sums = {name: column.sum(keepdims=True) for name, column in columns.items()}
    return sums if len(next(iter(columns.values()))) else columns


def last_mature_day(last: int, today: int, within: int) -> int:
    """The last day up to `last` that ended `within` whole days of the calendar before today. Its last
    submissions are as many times 24 h old; after a day of 23 h they lack an hour in today's first hour."""
    return min(last, today - within - 1)


def stacked(names: Sequence[str], *parts: Mapping[str, Column]) -> dict[str, Column]:
    """These columns of the rows of all parts, with 0 where one lacks a column."""
    lengths = [len(next(iter(part.values()))) for part in parts]
    return {
        name: np.concatenate(
            [
                part[name] if name in part else np.zeros(length, dtype=np.int64)
                for part, length in zip(parts, lengths, strict=True)
            ]
        )
        for name in names
    }


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


@cache
def _visitors(is_limited: bool) -> Select[Any]:
    table = DAILY["visitor"]
    statement = (
        select(table.c.kind, cast(func.sum(table.c.visitors), BigInteger))
        .where(
            table.c.edition == bindparam("edition"),
            table.c.form == bindparam("form"),
            table.c.day.between(bindparam("first"), bindparam("last")),
            table.c.previous < bindparam("first"),
        )
        .group_by(table.c.kind)
    )
    return statement.where(table.c.delay < bindparam("within")) if is_limited else statement

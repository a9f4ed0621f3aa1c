"""Cards and tables as data: what `templates/dashboard/figures.html` shows of a page's rows.

The address sorts a table: `sort=forms.views` sorts the table `forms` by its column `views` from the least up,
`sort=forms.-views` from the most down. One table of a page is sorted at a time; the others stay in their own
order.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from flask import request

from warehouse.domain.figures import FIGURES, MONEY, Figure
from web.api.rows import Row
from web.dashboard import formatting
from web.dashboard.compare import Amount, ComparedRow, Rate
from web.dashboard.page import View
from web.dashboard.selection import address

# Rows of a table; a page stays light however many there are.
MOST_ROWS: Final = 100
_DOWN: Final = "-"

Reason = str | Callable[[ComparedRow], str]


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure in a card or a cell, as texts; `without` says why there is no `text`. `was_nothing` stands for
    a former figure of 0, `verdict` is that on the change of a rate: better, worse, chance."""

    text: str
    without: str
    interval: str = ""
    before: str = ""
    was_nothing: bool = False
    change: str = ""
    verdict: str = ""
    is_few: bool = False


def shown(
    figure: Amount | Rate,
    unit: str = "count",
    currency: str = "",
    without: str = "no one yet",
    *,
    is_loss: bool = False,
    is_exact: bool = False,
    is_nothing: bool = False,
) -> Shown:
    """Money is in minor units of the currency. More of a loss is worse."""
    now, before = figure.now, figure.before
    text = "" if now is None or is_nothing else formatting.figure(now, unit, currency, is_exact)
    if isinstance(figure, Rate):
        return _rate(figure, text, without, is_loss)
    if before is None:
        return Shown(text, without)
    if before == 0 and unit in ("count", "money"):
        return Shown(text, without, was_nothing=bool(now))
    change = ""
    if unit == "percent" and now is not None:
        change = formatting.signed_points(now - before)
    elif figure.change is not None:
        change = formatting.signed_percent(figure.change)
    return Shown(text, without, before=formatting.figure(before, unit, currency), change=change)


def _rate(rate: Rate, text: str, without: str, is_loss: bool) -> Shown:
    before, change, verdict = rate.before, rate.change, ""
    if change is not None:
        verdict = "better" if (change > 0) != is_loss else "worse"
        verdict = "chance" if rate.is_chance else verdict
    return Shown(
        text,
        without,
        interval=formatting.interval(rate.interval) if rate.trials else "",
        before="" if before is None or not rate.trials else formatting.percent(before),
        change="" if change is None else formatting.signed_points(change),
        verdict=verdict,
        is_few=bool(rate.trials) and rate.is_few,
    )


@dataclass(frozen=True, slots=True)
class Card:
    """`figures` with a line on their clock each."""

    heading: str
    figures: Sequence[tuple[Shown, str]]


def card(heading: str, figure: Amount | Rate, clock: str, currency: str = "") -> Card:
    """One figure: a rate, money if there is a currency, else a count."""
    unit = "percent" if isinstance(figure, Rate) else "money" if currency else "count"
    return Card(heading, [(shown(figure, unit, currency), clock)])


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: a text of its rows, a figure (`unit`), or what the page draws (`unit="drawn"`).

    A figure is the one that rows have under `name`; the quotient of two of theirs (`over`), which is a rate
    with its interval where it is a percentage; or what `figure` makes of a row. It has no value where `of`
    is 0, and `without` says so. `absent` stands for a text that is missing.

    `sort` is the name in addresses (None: the table cannot be sorted by it), `key` the value to sort by.
    `currency` is the name of a row's own currency. `mark`: (class, text, of which rows), `bar` a share of 1.
    """

    name: str
    label: str
    unit: str = "count"
    over: tuple[str, str] | None = None
    figure: Callable[[ComparedRow], Amount | Rate] | None = None
    of: str = ""
    without: Reason = ""
    absent: str = ""
    compared: bool = False
    has_interval: bool = True
    is_loss: bool = False
    currency: str = ""
    mark: tuple[str, str, Callable[[ComparedRow], bool]] | None = None
    bar: Callable[[ComparedRow], float | None] | None = None
    sort: str | None = ""
    key: Callable[[ComparedRow], Any] | None = None

    @property
    def is_text(self) -> bool:
        return self.unit in ("text", "drawn")

    @property
    def place(self) -> str | None:
        """Its name in addresses."""
        return self.name if self.sort == "" else self.sort

    def of_row(self, row: ComparedRow) -> Amount | Rate:
        if self.figure:
            figure = self.figure(row)
        elif self.over:
            figure = row.rate(*self.over) if self.unit == "percent" else row.quotient(*self.over)
        else:
            figure = row.amount(self.name)
        return figure if self.compared or isinstance(figure, Rate) else Amount(figure.now)

    def shown(
        self, row: ComparedRow, currency: str, *, is_exact: bool = True, without: Reason = ""
    ) -> Shown:
        reason = without or self.without
        return shown(
            self.of_row(row),
            self.unit,
            row[self.currency] if self.currency else currency,
            reason if isinstance(reason, str) else reason(row),
            is_loss=self.is_loss,
            is_exact=is_exact,
            is_nothing=self._is_nothing(row),
        )

    def sort_key(self, row: ComparedRow) -> Any:
        """None where there is no value."""
        if self._is_nothing(row):
            return None
        if self.key:
            return self.key(row)
        if self.unit == "text":
            return row[self.name] and row[self.name].casefold()
        return self.of_row(row).now

    def _is_nothing(self, row: ComparedRow) -> bool:
        return bool(self.of) and not row.now.get(self.of)


def columns_of(row: Row) -> Callable[..., Column]:
    """Columns of a report's rows, by their names. Heading, unit, formula and the reason for a missing value
    are those of the declared figure, where the page says nothing else. A percentage is a rate, with its
    interval, where it is compared."""

    def column(name: str, label: str = "", **more: Any) -> Column:
        declared = row.columns.get(name) or FIGURES[name]
        said: dict[str, Any] = {"unit": "text"}
        if isinstance(declared, Figure):
            said = {"unit": declared.unit, "without": declared.without}
            if declared.unit == MONEY or more.get("compared"):
                said["over"] = declared.over
            elif declared.over and declared.over[1] in row.columns:
                said["of"] = declared.over[1]
        return Column(name, label or declared.heading, **said | more)

    return column


@dataclass(frozen=True, slots=True)
class Sum:
    """A line below a table: the figures that `row` has, under a label. `without` says by the name of a column
    why there is no figure, if not for the column's reason."""

    label: str
    row: ComparedRow
    without: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Table:
    """`rows` in the order of `column`, if it has a `name` in addresses, else as they came; the page shows the
    first `most`, and says so with the `noun`. `problem` says what could not be read."""

    columns: Sequence[Column]
    rows: Sequence[ComparedRow]
    currency: str
    empty: str = ""
    sums: Sequence[Sum] = ()
    most: int = MOST_ROWS
    is_exact: bool = True
    noun: str = "rows"
    note: str = ""
    name: str = ""
    column: str | None = None
    is_descending: bool = False
    problem: str = ""

    def cell(self, column: Column, row: ComparedRow) -> Shown:
        return column.shown(row, self.currency, is_exact=self.is_exact)

    def line(self, line: Sum) -> tuple[int, list[Shown | None]]:
        """How many columns its label takes, and the figures of the others."""
        cells = [self._sum_cell(column, line) for column in self.columns]
        leading = next((place for place, cell in enumerate(cells) if cell), len(cells))
        return leading, cells[leading:]

    def _sum_cell(self, column: Column, line: Sum) -> Shown | None:
        known = line.row.now.keys()
        if column.is_text or not (column.name in known or known >= {*(column.over or " ")}):
            return None
        without = line.without.get(column.name, "")
        return column.shown(line.row, self.currency, is_exact=self.is_exact, without=without)

    def address(self, column: Column) -> str:
        """The address of the same page by another column, or by this one the other way round.

        Numbers begin with the most, texts with the first.
        """
        is_number = column.unit != "text" and column is not self.columns[0]
        down = not self.is_descending if column.place == self.column else is_number
        order = f"{self.name}.{_DOWN if down else ''}{column.place}"
        return f"{address(sort=order)}#{self.name}"


def table(
    view: View, columns: Sequence[Column], rows: Sequence[ComparedRow], order: str = "", **more: Any
) -> Table:
    """A table that can be sorted has an `order`, as addresses write it: `codes.-orders`. Rows without a value
    come last either way, and rows with the same value keep the order in which they were given."""
    more["note"] = view.note if any(column.compared for column in columns) else ""
    if not order:
        return Table(columns, rows, view.shop.currency, **more)
    name, _, by = order.partition(".")
    by_place = {column.place: column for column in columns if column.place is not None}
    asked_table, _, asked = request.args.get("sort", "").partition(".")
    if asked_table == name and asked.removeprefix(_DOWN) in by_place:
        by = asked
    elif asked_table == name:
        more["problem"] = f"This table cannot be sorted by {asked!r}. Choose one of its headings."
    column, is_descending = by_place[by.removeprefix(_DOWN)], by.startswith(_DOWN)
    keys = [(column.sort_key(row), row) for row in rows]
    known = [pair for pair in keys if pair[0] is not None]
    known.sort(key=lambda pair: pair[0], reverse=is_descending)
    more |= {"name": name, "column": column.place, "is_descending": is_descending}
    rows = [row for _, row in known] + [row for key, row in keys if key is None]
    return Table(columns, rows, view.shop.currency, **more)

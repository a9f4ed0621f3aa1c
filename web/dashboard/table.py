"""Cards and tables as data: what `templates/dashboard/figures.html` shows of a page's rows.

The address sorts a table: `sort=forms.views` sorts the table `forms` by its column `views` from the least up,
`sort=forms.-views` from the most down. One table of a page is sorted at a time; the others stay in their own
order.

Programs read a page as well. Each figure has the name and the number of the API (`data-figure`,
`data-value`). One that is set beside a former figure says in the same element how it changed (`data-change`),
the former number (`data-before`), the days of both (`data-days`, `data-days-before`) and the days to buy
(`data-within`); it is an element of its own where the days that are shown are not all compared.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from flask import request
from markupsafe import Markup

from warehouse.domain.currencies import minor_units
from warehouse.domain.figures import FIGURES, MONEY, Figure
from web.api.csv_table import guarded_text
from web.api.rows import Row
from web.dashboard import formatting
from web.dashboard.comparable import NOT_COMPARED, Pair
from web.dashboard.compare import Amount, ComparedRow, Rate
from web.dashboard.page import View
from web.dashboard.selection import address

# Rows of a table; a page stays light however many there are.
MOST_ROWS: Final = 100
_DOWN: Final = "-"

Reason = str | Callable[[ComparedRow], str]
Attributes = Mapping[str, Any]


def written(data: Attributes) -> Markup:
    """Attributes as they stand in an element. Their values are numbers, days and names of this program:
    nothing in them has to be escaped."""
    return Markup(
        "".join(f' {name}="{value}"' for name, value in data.items() if value is not None)
    )


@dataclass(frozen=True, slots=True)
class Former:
    """What stands below a figure: `text` is the figure of the days that are compared, and `label` says which,
    where they are not all that are shown; `before` and the `change` of it, of a rate with the `verdict`:
    better, worse, chance. `was_nothing` stands for a former figure of 0, `reason` says why nothing is
    compared."""

    text: str = ""
    label: str = ""
    before: str = ""
    was_nothing: bool = False
    change: str = ""
    verdict: str = ""
    is_few: bool = False
    reason: str = ""
    data: Attributes = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether anything stands there; of a reason, only a card says it."""
        return bool(self.text or self.before or self.is_few or self.was_nothing)

    @property
    def attributes(self) -> Markup:
        return written(self.data)


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure in a card or a cell, as texts; `without` says why there is no `text`. `data` are the
    attributes of its element."""

    text: str
    without: str
    interval: str = ""
    former: Former = Former()
    data: Attributes = field(default_factory=dict)

    @property
    def attributes(self) -> Markup:
        return written(self.data)


def shown(
    figure: Amount | Rate,
    unit: str = "count",
    currency: str = "",
    without: str = "no one yet",
    *,
    name: str = "",
    is_loss: bool = False,
    is_exact: bool = False,
    is_nothing: bool = False,
) -> Shown:
    """Money is in minor units of the currency. More of a loss is worse. `name` is the API's."""

    def text(value: Any, *, exact: bool = False) -> str:
        return "" if value is None else formatting.figure(value, unit, currency, exact)

    def number(value: Any) -> Any:
        return _api_number(value or 0, unit, currency)

    if isinstance(figure, Rate):
        former, fair, before = _of_rate(figure, is_loss), figure.fair_rate, figure.before_rate
    else:
        former, fair, before = _of_amount(figure, unit), figure.fair, figure.before
    if former.change or (before is not None and before != 0):
        former = replace(former, before=text(before))
    now = "" if is_nothing else text(figure.now, exact=is_exact)
    interval = ""
    if isinstance(figure, Rate) and figure.trials:
        interval = formatting.interval(figure.interval)
    data: dict[str, Any] = {"data-figure": name, "data-value": number(figure.now)} if name else {}
    pair = figure.pair
    if is_nothing and isinstance(figure, Rate):
        return Shown(now, without, data=data)
    if not name or not pair:
        return Shown(now, without, interval, former, data)
    compared = {
        "data-change": _direction(figure, former, pair),
        "data-within": pair.within,
    }
    if not pair.reason and before is not None:
        compared |= {
            "data-before": number(before),
            "data-days": pair.days_text,
            "data-days-before": pair.before_text,
        }
    if pair.is_shown or pair.reason or before is None:
        return Shown(now, without, interval, former, data | compared)
    own = {"data-figure": name, "data-value": number(fair), **compared}
    return Shown(
        now,
        without,
        interval,
        replace(former, text=text(fair) or "—", label=pair.label, data=own),
        data,
    )


def _of_amount(figure: Amount, unit: str) -> Former:
    """All but the texts of the figures."""
    if figure.pair and figure.pair.reason:
        return Former(reason=figure.pair.sentence)
    if figure.before is None:
        return Former()
    if figure.before == 0 and unit != "percent":
        return Former(was_nothing=bool(figure.fair))
    change = ""
    if unit == "percent" and figure.fair is not None:
        change = formatting.signed_points(figure.fair - figure.before)
    elif figure.change is not None:
        change = formatting.signed_percent(figure.change)
    return Former(change=change)


def _of_rate(rate: Rate, is_loss: bool) -> Former:
    if rate.pair and rate.pair.reason:
        return Former(reason=rate.pair.sentence, is_few=bool(rate.trials) and rate.is_few)
    is_few = bool(rate.trials) and rate.is_few
    if rate.change is None:
        return Former(is_few=is_few)
    verdict = "better" if (rate.change > 0) != is_loss else "worse"
    if rate.is_chance or is_few:
        verdict = "chance"
    return Former(
        change=formatting.signed_points(rate.change),
        verdict=verdict,
        is_few=is_few,
    )


def _direction(figure: Amount | Rate, former: Former, pair: Pair) -> str:
    """The value of `data-change`."""
    if pair.reason:
        return pair.reason
    if isinstance(figure, Amount):
        return "no-verdict" if figure.before is not None else NOT_COMPARED
    if former.is_few or figure.change is None:
        return "few"
    if figure.is_chance:
        return "within-chance"
    return "up" if (figure.change or 0) > 0 else "down"


def _api_number(value: Any, unit: str, currency: str) -> Any:
    """A figure as answers have it."""
    if unit == "spend":
        return value / minor_units(currency)
    return value / 10_000 if unit == "return" else value


@dataclass(frozen=True, slots=True)
class Card:
    """`figures` with a line on their clock each."""

    heading: str
    figures: Sequence[tuple[Shown, str]]


def card(heading: str, name: str, figure: Amount | Rate, clock: str, currency: str = "") -> Card:
    """One figure, by the API's `name`: a rate, money if there is a currency, else a count."""
    unit = "percent" if isinstance(figure, Rate) else "money" if currency else "count"
    return Card(heading, [(shown(figure, unit, currency, name=name), clock)])


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: a text of its rows, a figure (`unit`), or what the page draws (`unit="drawn"`).

    A text is the one that rows have under `name`, or what `text` makes of a row; what is drawn has one for
    the CSV alone. A figure is the one that rows have under `name`; the quotient of two of theirs (`over`),
    which is a rate with its interval where it is a percentage; or what `figure` makes of a row. It has no
    value where `of` is 0, and `without` says so. `absent` stands for a text that is missing. `api` is the
    figure's name in answers, if it is another one.

    `sort` is the name in addresses (None: the table cannot be sorted by it), `key` the value to sort by.
    `currency` is the name of a row's own currency. `mark`: (class, text, of which rows), `bar` a share of 1.
    """

    name: str
    label: str
    unit: str = "count"
    over: tuple[str, str] | None = None
    figure: Callable[[ComparedRow], Amount | Rate] | None = None
    text: Callable[[ComparedRow], str | None] | None = None
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
    api: str = ""

    @property
    def is_text(self) -> bool:
        return self.unit in ("text", "drawn")

    @property
    def place(self) -> str | None:
        """Its name in addresses."""
        return self.name if self.sort == "" else self.sort

    def text_of(self, row: ComparedRow) -> str | None:
        text: str | None = self.text(row) if self.text else row[self.name]
        return text

    def of_row(self, row: ComparedRow) -> Amount | Rate:
        if self.figure:
            figure = self.figure(row)
        elif self.over:
            figure = row.rate(*self.over) if self.unit == "percent" else row.quotient(*self.over)
        else:
            figure = row.amount(self.name)
        if self.compared:
            return figure
        if isinstance(figure, Rate):
            return Rate(figure.hits, figure.trials)
        return Amount(figure.now)

    def shown(
        self, row: ComparedRow, currency: str, *, is_exact: bool = True, without: Reason = ""
    ) -> Shown:
        reason = without or self.without
        return shown(
            self.of_row(row),
            self.unit,
            self._currency_of(row, currency),
            reason if isinstance(reason, str) else reason(row),
            name=self.api or self.name,
            is_loss=self.is_loss,
            is_exact=is_exact,
            is_nothing=self._is_nothing(row),
        )

    def plain(self, row: ComparedRow, currency: str) -> str:
        """The cell as a spreadsheet has it; "" where there is no value."""
        if self.is_text:
            return guarded_text(self.text_of(row) or self.absent)
        value = None if self._is_nothing(row) else self.of_row(row).now
        return formatting.plain(value, self.unit, self._currency_of(row, currency))

    def sort_key(self, row: ComparedRow) -> Any:
        """None where there is no value."""
        if self._is_nothing(row):
            return None
        if self.key:
            return self.key(row)
        if self.is_text:
            text = self.text_of(row)
            return text and text.casefold()
        return self.of_row(row).now

    def _currency_of(self, row: ComparedRow, currency: str) -> str:
        return row[self.currency] if self.currency else currency

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
    """A line below a table: the figures that `row` has, under a label; `key` is its name for programs.
    `without` says by the name of a column why there is no figure, if not for the column's reason."""

    label: str
    row: ComparedRow
    without: Mapping[str, str] = field(default_factory=dict)
    key: str = "total"


@dataclass(frozen=True, slots=True)
class Table:
    """`rows` in the order of `column`, if they can be sorted, else as they came; the page shows the first
    `most`, and says so with the `noun`. `marks` are the attributes of a row's element, each with the name of
    its value. `problem` says what could not be read."""

    name: str
    columns: Sequence[Column]
    rows: Sequence[ComparedRow]
    currency: str
    empty: str = ""
    sums: Sequence[Sum] = ()
    marks: Mapping[str, str] = field(default_factory=dict)
    most: int = MOST_ROWS
    is_exact: bool = True
    noun: str = "rows"
    column: str | None = None
    is_descending: bool = False
    problem: str = ""

    def cell(self, column: Column, row: ComparedRow) -> Shown:
        return column.shown(row, self.currency, is_exact=self.is_exact)

    def attributes(self, row: ComparedRow) -> Attributes:
        values = {mark: row[name] for mark, name in self.marks.items()}
        return {f"data-{mark}": "" if value is None else value for mark, value in values.items()}

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

    @property
    def csv_address(self) -> str:
        """The address of the whole table as a file for spreadsheets."""
        return address(csv=self.name)

    @property
    def plain(self) -> list[list[str]]:
        """The headings, then the cells of all rows, as a spreadsheet has them."""
        columns = [column for column in self.columns if column.unit != "drawn" or column.text]
        # Amounts in several currencies say which they are in.
        own = next((column.currency for column in columns if column.currency), "")
        if own:
            columns.append(Column(own, "Currency", "text"))
        return [
            # Some are names of forms and questions, which strangers send.
            [guarded_text(column.label) for column in columns],
            *([column.plain(row, self.currency) for column in columns] for row in self.rows),
        ]


def table(
    view: View,
    name: str,
    columns: Sequence[Column],
    rows: Sequence[ComparedRow],
    order: str = "",
    **more: Any,
) -> Table:
    """A table that can be sorted has an `order`, as addresses write it: `-orders`. Rows without a value come
    last either way, and rows with the same value keep the order in which they were given."""
    if not order:
        return Table(name, columns, rows, view.shop.currency, **more)
    by = order
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
    more |= {"column": column.place, "is_descending": is_descending}
    rows = [row for _, row in known] + [row for key, row in keys if key is None]
    return Table(name, columns, rows, view.shop.currency, **more)

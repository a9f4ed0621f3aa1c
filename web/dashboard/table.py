"""Cards and tables as data: what `templates/dashboard/figures.html` shows of a page's rows.

The address says how a table is shown: `sort=forms.views` sorts the table `forms` by its column `views` from
the least up, `sort=forms.-views` from the most down; `numbers=forms` opens all of its numbers
(`numbers=forms,days` those of two). One table of a page is sorted at a time; the others stay in their own
order.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from flask import request

from warehouse.domain.figures import FIGURES, MONEY, Figure
from web.api.csv_table import guarded_text
from web.api.rows import Row
from web.dashboard import formatting
from web.dashboard.changes import Attributes, Cell, PageChanges
from web.dashboard.compare import Amount, ComparedRow, Rate
from web.dashboard.filters import filter_address
from web.dashboard.order_links import SUMS_OF_ORDERS, Filters, order_links
from web.dashboard.page import View
from web.dashboard.selection import address

# Rows of a table; a page stays light however many there are.
MOST_ROWS: Final = 100
_DOWN: Final = "-"

Reason = str | Callable[[ComparedRow], str]


@dataclass(frozen=True, slots=True)
class Card:
    """A figure at a glance; `clock` says what it counts, and `more` are further figures that open with it,
    each after its words."""

    heading: str
    cell: Cell
    clock: str = ""
    more: Sequence[tuple[str, Cell]] = ()


def card(
    view: View,
    heading: str,
    name: str,
    figure: Amount | Rate,
    clock: str = "",
    currency: str = "",
    more: Sequence[tuple[str, Cell]] = (),
    orders: Sequence[Filters] = (),
) -> Card:
    """One figure, by the API's `name`: a rate, money if there is a currency, else a count. `orders` are those
    that it is made of."""
    unit = "percent" if isinstance(figure, Rate) else "money" if currency else "count"
    cell = view.changes.cell(figure, unit, currency, name=name)
    return Card(heading, _with_orders(view, cell, orders), clock, more)


def _with_orders(view: View, cell: Cell, parts: Sequence[Filters]) -> Cell:
    """With links to the orders, where the figure is a sum of them and there are any."""
    is_sum = cell.data.get("data-figure") in SUMS_OF_ORDERS and cell.data["data-value"]
    return replace(cell, orders=order_links(view, parts)) if parts and is_sum else cell


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: a text of its rows, a figure (`unit`), or what the page draws (`unit="drawn"`).

    A text is the one that rows have under `name`, or what `text` makes of a row; what is drawn has one for
    the CSV alone. A figure is the one that rows have under `name`; the quotient of two of theirs (`over`),
    which is a rate with its interval where it is a percentage; or what `figure` makes of a row. It has no
    value where `of` is 0, and `without` says so. `absent` stands for a text that is missing. `api` is the
    figure's name in answers, if it is another one; None where they lack it.

    `sort` is the name in addresses (None: the table cannot be sorted by it), `key` the value to sort by.
    `filters` makes of a row the filters of the page that its text leads to, if any. `currency` is the name of
    a row's own currency. `mark`: (class, text, of which rows), `bar` a share of
    1. A `deep` column stands among all numbers alone. A telephone shows the `main` one, else the first
    figure, beside the name, and opens the rest.
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
    is_loss: bool = False
    currency: str = ""
    mark: tuple[str, str, Callable[[ComparedRow], bool]] | None = None
    bar: Callable[[ComparedRow], float | None] | None = None
    sort: str | None = ""
    key: Callable[[ComparedRow], Any] | None = None
    api: str | None = ""
    deep: bool = False
    main: bool = False
    filters: Callable[[ComparedRow], Mapping[str, str]] | None = None

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

    def link_of(self, row: ComparedRow) -> str:
        """The address of the page filtered by a row; "" where it does not filter."""
        filters = self.filters(row) if self.filters else {}
        return filter_address(**filters) if filters else ""

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

    def cell(
        self,
        changes: PageChanges,
        row: ComparedRow,
        currency: str,
        *,
        is_exact: bool = True,
        without: Reason = "",
    ) -> Cell:
        reason = without or self.without
        return changes.cell(
            self.of_row(row),
            self.unit,
            self._currency_of(row, currency),
            reason if isinstance(reason, str) else reason(row),
            name=self.name if self.api == "" else self.api or "",
            is_loss=self.is_loss,
            is_exact=is_exact,
            is_nothing=self._is_nothing(row),
        )

    def plain(self, row: ComparedRow, currency: str) -> str:
        """The cell as a spreadsheet has it; "" where there is no value."""
        if self.is_text:
            return guarded_text(self.text_of(row) or self.absent)
        value = None if self._is_nothing(row) else self.of_row(row).value
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
        return self.of_row(row).value

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
    `without` says by the name of a column why there is no figure, if not for the column's reason. `orders`
    are those that it is made of."""

    label: str
    row: ComparedRow
    without: Mapping[str, str] = field(default_factory=dict)
    key: str = "total"
    orders: Sequence[Filters] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """`rows` in the order of `column`, if they can be sorted, else as they came, and `shown` those of the
    page: (row, its cells, the attributes of its element). `foot` has (line, how many columns its label
    takes, the cells of the others). `every` are all columns, `columns` those that are shown: all, where the
    address opens all numbers (`is_open`). In the middle of `shown`, so many are left out as is the `gap`.
    Rows in the order of the column `group` stand below its texts. `problem` says what could not be read."""

    name: str
    every: Sequence[Column]
    columns: Sequence[Column]
    rows: Sequence[ComparedRow]
    currency: str
    shown: Sequence[tuple[ComparedRow, list[Cell | None], Attributes]] = ()
    foot: Sequence[tuple[Sum, int, list[Cell | None]]] = ()
    is_open: bool = False
    empty: str = ""
    most: int = MOST_ROWS
    noun: str = "rows"
    gap: int = 0
    group: str = ""
    column: str | None = None
    is_descending: bool = False
    problem: str = ""
    is_filtered: bool = False

    @property
    def heading(self) -> Column | None:
        """The column whose text stands once above the rows that have it; None where they are not in its
        order, or it is shown as a column."""
        found = next((each for each in self.every if each.name == self.group), None)
        return found if found and found.place == self.column and not self.is_open else None

    @property
    def opens(self) -> bool:
        """Whether it has numbers that are not shown."""
        return not self.is_open and len(self.every) > len(self.columns)

    @property
    def numbers_address(self) -> str:
        """The address of the page with all numbers of the table, or without."""
        return f"{address(numbers='' if self.is_open else self.name)}#{self.name}"

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
        columns = [column for column in self.every if column.unit != "drawn" or column.text]
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
    *,
    sums: Sequence[Sum] = (),
    marks: Mapping[str, str] | None = None,
    first: int = 0,
    most: int = MOST_ROWS,
    ends: int = 0,
    is_exact: bool = True,
    is_numbers: bool = False,
    orders: Callable[[ComparedRow, Column], Sequence[Filters]] = lambda *_: (),
    **more: Any,
) -> Table:
    """A table that can be sorted has an `order`, as addresses write it: `-orders`. Rows without a value
    come last either way, and rows with the same value keep the order in which they were given. The page
    shows `most` of them from `first` on; with `ends`, so many from each end, until the address opens all.
    `marks` are the attributes of a row's element, each with the name of its value. `is_numbers`: it has the
    numbers of a chart, and stands on the page only if the address opens it. `orders` are those that the sums
    of a row are made of."""
    is_open = name in request.args.get("numbers", "").split(",")
    if order:
        rows, in_order = _sorted(name, columns, rows, order)
        more |= in_order
    shown = [column for column in columns if is_open or not column.deep]
    if is_numbers and not is_open:
        shown = []
    if not any(column.main for column in shown):
        first_figure = next((column for column in shown if not column.is_text), None)
        shown = [replace(each, main=True) if each is first_figure else each for each in shown]
    currency, exact = view.shop.currency, is_exact or is_open

    def cells(row: ComparedRow) -> list[Cell | None]:
        return [
            None
            if column.is_text
            else _with_orders(
                view,
                column.cell(view.changes, row, currency, is_exact=exact),
                orders(row, column),
            )
            for column in shown
        ]

    def attributes(row: ComparedRow) -> Attributes:
        values = {mark: row[field] for mark, field in (marks or {}).items()}
        return {f"data-{mark}": "" if value is None else value for mark, value in values.items()}

    def foot(line: Sum) -> tuple[Sum, int, list[Cell | None]]:
        known = line.row.now.keys()

        def cell(column: Column) -> Cell | None:
            if column.is_text or not (column.name in known or known >= {*(column.over or " ")}):
                return None
            without = line.without.get(column.name, "")
            made = column.cell(view.changes, line.row, currency, is_exact=exact, without=without)
            return _with_orders(view, made, line.orders)

        figures = [cell(column) for column in shown]
        leading = next((place for place, cell in enumerate(figures) if cell), len(figures))
        return line, leading, figures[leading:]

    drawn, gap = list(rows[first : first + most]), 0
    if ends and not is_open and len(rows) > 2 * ends:
        gap, drawn = len(rows) - 2 * ends, [*rows[:ends], *rows[-ends:]]
    return Table(
        name,
        columns,
        shown,
        rows,
        currency,
        [(row, cells(row), attributes(row)) for row in drawn] if shown else [],
        [foot(line) for line in sums] if rows and shown else [],
        is_open,
        is_filtered=bool(view.answers.filters),
        most=most,
        gap=gap,
        **more,
    )


def _sorted(
    name: str, columns: Sequence[Column], rows: Sequence[ComparedRow], order: str
) -> tuple[list[ComparedRow], dict[str, Any]]:
    """The rows as the address orders them, and how that is."""
    by, problem = order, ""
    by_place = {column.place: column for column in columns if column.place is not None}
    asked_table, _, asked = request.args.get("sort", "").partition(".")
    if asked_table == name and asked.removeprefix(_DOWN) in by_place:
        by = asked
    elif asked_table == name:
        problem = f"This table cannot be sorted by {asked!r}. Choose one of its headings."
    column, is_descending = by_place[by.removeprefix(_DOWN)], by.startswith(_DOWN)
    keys = [(column.sort_key(row), row) for row in rows]
    known = [pair for pair in keys if pair[0] is not None]
    known.sort(key=lambda pair: pair[0], reverse=is_descending)
    in_order = [row for _, row in known] + [row for key, row in keys if key is None]
    return in_order, {"column": column.place, "is_descending": is_descending, "problem": problem}

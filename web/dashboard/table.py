"""START HERE for figures: columns, their cells, and the cards and tables that are made of them, which
`templates/dashboard/figures.html` draws.

The address says how a table is shown: `sort=forms.views` sorts the table `forms` by its column `views` from
the least up, `sort=forms.-views` from the most down; `numbers=forms` opens all of its numbers
(`numbers=forms,days` those of two). One table of a page is sorted at a time; the others stay in their own
order.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from itertools import chain
from typing import Any, Final, NamedTuple

from flask import request

from warehouse.domain.figures import FIGURES, MONEY, PERCENT, Figure
from warehouse.domain.vocabulary import ATTRIBUTION_TYPES, UNATTRIBUTED
from web.api.csv_table import guarded_text
from web.api.rows import Row
from web.dashboard import formatting
from web.dashboard.changes import Attributes, Cell
from web.dashboard.compare import ComparedRow, Line, Value
from web.dashboard.page import View
from web.dashboard.selection import address, filter_address

# Rows of a table; a page stays light however many there are.
MOST_ROWS: Final = 100
_DOWN: Final = "-"

# Filters of `GET /v1/orders`, with `range` for a part of the days that are shown.
Filters = Mapping[str, str]

CREDITED: Final = {
    "discount_code": "by a code",
    "customer": "by the customer",
    "visitor": "by the visitor",
    "unattributed": "to no form",
}
# The figures that orders add up to, by their names in the API.
SUMS_OF_ORDERS: Final = frozenset(
    ("orders", "grossRevenueCents", "totalRefundedCents", "netRevenueCents", "attributedOrders")
) | {"attributedNetRevenueCents"}


def credited(**filters: str) -> list[Filters]:
    """All that are credited to a form, in parts: a list of orders has one way of credit, or all."""
    return [{"type": kind, **filters} for kind in ATTRIBUTION_TYPES[:UNATTRIBUTED]]


def order_links(view: View, parts: Sequence[Filters]) -> list[tuple[str, str]]:
    """(words, address) of each part; nothing for members who may not see orders."""
    links = [
        (f"orders {CREDITED[part['type']]}" if len(parts) > 1 else "its orders", address)
        for part in parts
        if (address := view.orders_address(**part))
    ]
    return links if len(links) == len(parts) else []


Reason = str | Callable[[ComparedRow], str]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, or the figure of a card: a text of its rows, a figure (`unit`), or what the page
    draws (`unit="drawn"`). `columns_of` makes it from the column that a report's row declares."""

    name: str
    label: str
    unit: str = "count"
    # A figure is what `figure` makes of a row; or the quotient of two of the row's (`over`), a rate with its
    # interval where it is a percentage; or else the one that rows have under `name`.
    over: tuple[str, str] | None = None
    figure: Callable[[ComparedRow], Value] | None = None
    # A text is what `text` makes of a row, or else the one that rows have under `name`.
    text: Callable[[ComparedRow], str | None] | None = None
    # It has no value where the row's `of` is 0, and `without` says so. `absent` stands for a missing text.
    of: str = ""
    without: Reason = ""
    absent: str = ""
    compared: bool = False
    is_loss: bool = False
    # The name of a row's own currency.
    currency: str = ""
    # Class, text, of which rows; and the value of a whole bar: 0 stands for the greatest of the table.
    mark: tuple[str, str, Callable[[ComparedRow], bool]] | None = None
    bar: int | None = None
    # The name in addresses (None: nothing sorts by it, and the CSV lacks it), and what to sort by.
    sort: str | None = ""
    key: Callable[[ComparedRow], Any] | None = None
    # Its name in answers, if that is another one; None where they lack it.
    api: str | None = ""
    # A `deep` column stands among all numbers alone. A telephone shows the `main` one, else the first figure,
    # beside the name, and opens the rest.
    deep: bool = False
    main: bool = False
    # The filters of the page that a row's text leads to, if any.
    filters: Callable[[ComparedRow], Mapping[str, str]] | None = None

    @property
    def is_text(self) -> bool:
        return self.unit in ("text", "drawn")

    @property
    def place(self) -> str | None:
        """The name of the column in addresses."""
        return self.name if self.sort == "" else self.sort

    def text_of(self, row: ComparedRow) -> str | None:
        text: str | None = self.text(row) if self.text else row[self.name]
        return text

    def link_of(self, row: ComparedRow) -> str:
        """The address of the page filtered by a row; "" where it does not filter."""
        filters = self.filters(row) if self.filters else {}
        return filter_address(**filters) if filters else ""

    def value(self, row: ComparedRow) -> Value:
        if self.figure:
            value = self.figure(row)
        elif self.over:
            value = row.rate(*self.over) if self.unit == PERCENT else row.quotient(*self.over)
        else:
            value = row.amount(self.name)
        return value if self.compared else Value(value.now, other=value.other)

    def cell(
        self,
        view: View,
        row: ComparedRow,
        orders: Sequence[Filters] = (),
        *,
        is_exact: bool = False,
        without: Reason = "",
    ) -> Cell:
        """Make the cell of a row: the one way to any cell of a page. `orders` are those that the figure is a
        sum of, if it is one."""
        value, reason = self.value(row), without or self.without
        how: dict[str, Any] = {
            "unit": self.unit,
            "currency": self._currency_of(row, view.shop.currency),
            "without": reason if isinstance(reason, str) else reason(row),
            "name": self.name if self.api == "" else self.api or "",
            "is_exact": is_exact,
        }
        is_nothing = self._is_nothing(row.now)
        cell = view.changes.cell(value, is_loss=self.is_loss, is_nothing=is_nothing, **how)
        if row.other is not None:
            is_nothing = self._is_nothing(row.other)
            cell = replace(cell, beside=view.changes.beside(value, is_nothing=is_nothing, **how))
        if orders and cell.data.get("data-figure") in SUMS_OF_ORDERS and cell.data["data-value"]:
            cell = replace(cell, orders=order_links(view, orders))
        return cell

    def plain(self, row: ComparedRow, currency: str) -> list[str]:
        """The cell as a spreadsheet has it, and the one beside it; "" where there is no value."""
        if self.is_text:
            return [guarded_text(self.text_of(row) or self.absent)]
        value, currency = self.value(row), self._currency_of(row, currency)
        sides = [(row.now, value), (row.other, value.beside())]
        return [
            formatting.plain(None if self._is_nothing(line) else side.value, self.unit, currency)
            for line, side in sides
            if line is not None
        ]

    def sort_key(self, row: ComparedRow) -> Any:
        """The value to sort by; None where there is none."""
        if self._is_nothing(row.now):
            return None
        if self.key:
            return self.key(row)
        if self.is_text:
            text = self.text_of(row)
            return text and text.casefold()
        return self.value(row).value

    def _currency_of(self, row: ComparedRow, currency: str) -> str:
        return row[self.currency] if self.currency else currency

    def _is_nothing(self, line: Line) -> bool:
        return bool(self.of) and not line.get(self.of)


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


def note_columns(view: View, day: str) -> list[Column]:
    """The column `note` of a table whose rows have their day (`2026-11-28`) under this name; no column where
    none of the shown days has a note."""
    column = Column(
        *("note", "Note", "text"),
        text=lambda row: view.notes.get(date.fromisoformat(row[day])),
        without="no note on this day",
    )
    return [column] if view.notes else []


class Card(NamedTuple):
    """A figure at a glance; `clock` says what it counts, and `more` are further figures that open with it,
    each after its words."""

    heading: str
    cell: Cell
    clock: str = ""
    more: Sequence[tuple[str, Cell]] = ()


def card(
    view: View,
    column: Column,
    row: ComparedRow,
    clock: str = "",
    more: Sequence[Column] = (),
    orders: Sequence[Filters] = (),
) -> Card:
    """The figure of a column, and of `more` columns, of one row, each with its change."""
    cell, *cells = (
        replace(each, compared=True).cell(view, row, orders if each is column else ())
        for each in (column, *more)
    )
    return Card(
        column.label, cell, clock, [*zip([each.label for each in more], cells, strict=True)]
    )


class Sum(NamedTuple):
    """A line below a table: the figures that `row` has, under a label; `key` is its name for programs.
    `without` says by the name of a column why there is no figure, if not for the column's reason. `orders`
    are those that it is made of."""

    label: str
    row: ComparedRow
    without: Mapping[str, str] = {}
    key: str = "total"
    orders: Sequence[Filters] = ()


@dataclass(frozen=True)
class Table:
    """The first `most` rows from the place `first` on, in the order of the column that the address names,
    else of `order`; without an `order`, it has none. With `ends`, so many of both ends are shown until the
    address opens all."""

    view: View
    name: str
    # All columns, and all rows in the order in which they came.
    every: Sequence[Column]
    given: Sequence[ComparedRow]
    order: str = ""
    # The attributes of a row's element, each with the name of its value.
    marks: Mapping[str, str] = field(default_factory=dict)
    sums: Sequence[Sum] = ()
    # The orders that the sums of a row are made of.
    orders: Callable[[ComparedRow, Column], Sequence[Filters]] = lambda *_: ()
    is_exact: bool = True
    # Whether it has the numbers of a chart, and stands on the page only if the address opens it.
    is_numbers: bool = False
    first: int = 0
    most: int = MOST_ROWS
    ends: int = 0
    empty: str = ""
    noun: str = "rows"
    # The column above whose texts its rows stand, if they are in its order.
    group: str = ""
    _greatest: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # All cells of a page exist before its template draws the first.
        _ = self.shown, self.foot

    @cached_property
    def is_open(self) -> bool:
        """Whether the address opens all numbers."""
        return self.name in request.args.get("numbers", "").split(",")

    @cached_property
    def columns(self) -> list[Column]:
        """The columns that are shown."""
        if self.is_numbers and not self.is_open:
            return []
        shown = [column for column in self.every if self.is_open or not column.deep]
        if not any(column.main for column in shown):
            main = next((column for column in shown if not column.is_text), None)
            shown = [replace(each, main=True) if each is main else each for each in shown]
        return shown

    @cached_property
    def _asked(self) -> tuple[str, str]:
        """The order, and what of the address could not be read."""
        table, _, asked = request.args.get("sort", "").partition(".")
        if not self.order or table != self.name:
            return self.order, ""
        if asked.removeprefix(_DOWN) in {each.place for each in self.every}:
            return asked, ""
        return self.order, f"This table cannot be sorted by {asked!r}. Choose one of its headings."

    @property
    def problem(self) -> str:
        return self._asked[1]

    @property
    def column(self) -> str | None:
        """The place of the column by which rows are in order; None where they cannot be sorted."""
        return self._asked[0].removeprefix(_DOWN) or None

    @property
    def is_descending(self) -> bool:
        return self._asked[0].startswith(_DOWN)

    @cached_property
    def rows(self) -> Sequence[ComparedRow]:
        """All rows, as they are in order; those without a value last."""
        if not self.column:
            return self.given
        column = next(each for each in self.every if each.place == self.column)
        keys = [(column.sort_key(row), row) for row in self.given]
        known = [pair for pair in keys if pair[0] is not None]
        known.sort(key=lambda pair: pair[0], reverse=self.is_descending)
        return [row for _, row in known] + [row for key, row in keys if key is None]

    @property
    def gap(self) -> int:
        """The number of rows that are left out in the middle of those that are shown."""
        return max(len(self.rows) - 2 * self.ends, 0) if self.ends and not self.is_open else 0

    @cached_property
    def shown(self) -> list[tuple[ComparedRow, list[Cell | None], Attributes]]:
        """The rows of the page, their cells, and the attributes of their elements."""
        if not self.columns:
            return []
        drawn = list(self.rows[self.first : self.first + self.most])
        if self.gap:
            drawn = [*self.rows[: self.ends], *self.rows[-self.ends :]]
        return [
            (
                row,
                [
                    None if column.is_text else self._cell(column, row, self.orders(row, column))
                    for column in self.columns
                ],
                {
                    f"data-{mark}": "" if row[name] is None else row[name]
                    for mark, name in self.marks.items()
                },
            )
            for row in drawn
        ]

    @cached_property
    def foot(self) -> list[tuple[Sum, int, list[Cell | None]]]:
        """The lines below: how many columns the label takes, and the cells of the others."""
        lines = []
        for line in self.sums if self.rows and self.columns else ():
            known = line.row.now.keys()
            cells = [
                None
                if column.is_text or not (column.name in known or known >= {*(column.over or " ")})
                else self._cell(column, line.row, line.orders, line.without.get(column.name, ""))
                for column in self.columns
            ]
            leading = next((place for place, cell in enumerate(cells) if cell), len(cells))
            lines.append((line, leading, cells[leading:]))
        return lines

    def _cell(
        self, column: Column, row: ComparedRow, orders: Sequence[Filters], without: str = ""
    ) -> Cell:
        is_exact = self.is_exact or self.is_open
        return column.cell(self.view, row, orders, is_exact=is_exact, without=without)

    def share(self, column: Column, row: ComparedRow) -> float | None:
        """The bar of a cell as a share of 1; None where it has none."""
        if column.bar is None:
            return None
        value = column.sort_key(row)
        if column.name not in self._greatest:
            values = (column.sort_key(each) or 0 for each in self.rows)
            self._greatest[column.name] = column.bar or max(values, default=0)
        whole = self._greatest[column.name]
        return None if value is None or whole <= 0 else min(max(value / whole, 0), 1)

    @cached_property
    def sides(self) -> tuple[str, str]:
        """The values of the filters that stand side by side, each in a column of its own; ("", "") without
        them."""
        has_others = any(row.other is not None for row in self.rows)
        return self.view.selection.sides if has_others else ("", "")

    def width(self, columns: Sequence[Column]) -> int:
        """The columns that these take."""
        return sum(1 if column.is_text or not self.sides[1] else 2 for column in columns)

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
        columns = [column for column in self.every if column.place is not None]
        # Amounts in several currencies say which they are in.
        own = next((column.currency for column in columns if column.currency), "")
        if own:
            columns.append(Column(own, "Currency", "text"))
        headings = [
            [f"{column.label}, {side}" for side in self.sides]
            if self.sides[1] and not column.is_text
            else [column.label]
            for column in columns
        ]
        currency = self.view.shop.currency
        lines = [[column.plain(row, currency) for column in columns] for row in self.rows]
        # Some headings are names of forms and questions, which strangers send.
        return [[*map(guarded_text, chain(*headings))], *([*chain(*line)] for line in lines)]

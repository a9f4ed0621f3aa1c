"""The rows of a table in the order that the address names.

`sort=forms.views` sorts the table `forms` by its column `views` from the least up, `sort=forms.-views`
from the most down. One table of a page is sorted at a time; the others stay in their own order.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from flask import request

from web.dashboard.address import address

_DOWN: Final = "-"


@dataclass(frozen=True)
class SortedTable:
    """`rows` by `column`, which is one of `columns`; `problem` says what could not be read."""

    name: str
    rows: list[Any]
    columns: frozenset[str]
    column: str
    is_descending: bool
    problem: str = ""

    def address(self, column: str, *, is_number: bool) -> str:
        """The address of the same page by another column, or by this one the other way round.

        Numbers begin with the most, texts with the first.
        """
        assert column in self.columns, column
        down = not self.is_descending if column == self.column else is_number
        order = f"{self.name}.{_DOWN if down else ''}{column}"
        return f"{address(sort=order)}#{self.name}"


def sorted_table(
    name: str,
    rows: Sequence[Any],
    columns: Mapping[str, Callable[[Any], Any]],
    default: str,
) -> SortedTable:
    """Sort rows by a column of the address, else by `default` (`views`, `-views`).

    `columns` maps each column to a function of a row that gives its value, or None where there is none:
    such rows come last either way. Rows with the same value keep the order in which they were given.
    """
    problem, text = "", default
    table, _, asked = request.args.get("sort", "").partition(".")
    if table == name:
        if asked.removeprefix(_DOWN) in columns:
            text = asked
        else:
            problem = f"This table cannot be sorted by {asked!r}. Choose one of its headings."
    column, is_descending = text.removeprefix(_DOWN), text.startswith(_DOWN)
    value = columns[column]
    known = [row for row in rows if value(row) is not None]
    known.sort(key=value, reverse=is_descending)
    unknown = [row for row in rows if value(row) is None]
    return SortedTable(name, [*known, *unknown], frozenset(columns), column, is_descending, problem)

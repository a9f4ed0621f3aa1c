"""How a table writes its numbers and dates, as its own cells show it.

`Notation` looks at cells, and then writes others as the rest of `values/` reads them: `1.234,56` as
`1234.56`, `31.01.2026 9:05` as `2026-01-31 09:05`. A cell that does not fit stays as it is.
"""

import re
from collections.abc import Callable
from datetime import date
from typing import Final

from jobs.importing.values.errors import quoted

# The cells of a column that can be written in several ways.
NUMBER: Final = "number"
TIME: Final = "time"

DATE_ORDERS: Final = ("dmy", "mdy", "ymd")
# 1,234: a thousand and more, or one and a bit.
_UNCLEAR: Final = r"[1-9]\d{0,2},\d{3}"
_SHOWS: Final = {
    ",": re.compile(
        rf"[+-]?(\d{{1,3}}(\.\d{{3}})+,\d+|\d{{1,3}}(\.\d{{3}}){{2,}}|(?!{_UNCLEAR}$)\d*,\d+)",
        re.ASCII,
    ),
    ".": re.compile(
        r"[+-]?(\d{1,3}(,\d{3})+\.\d+|\d{1,3}(,\d{3}){2,}|(?![1-9]\d{0,2}\.\d{3}$)\d*\.\d+)",
        re.ASCII,
    ),
}
_IS_UNCLEAR: Final = re.compile(rf"[+-]?{_UNCLEAR}", re.ASCII)
_WITH_COMMA: Final = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d*)(,\d+)?", re.ASCII)
_WITH_GROUPS: Final = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", re.ASCII)
_DATE: Final = re.compile(
    r"(\d{4}|\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{1,2})\.?(?:,?[ T]+(\S.*))?", re.ASCII
)
_CLOCK: Final = re.compile(
    r"(\d{1,2}):(\d\d(?::\d\d(?:[.,]\d+)?)?)(?: ?([AP])\.?M\.?)?( ?(?:Z|[+-]\d\d:?\d\d))?",
    re.ASCII | re.IGNORECASE,
)


class UnclearDates(ValueError):
    """The cells do not show in which order days, months and years stand. The message says which cells."""


class Notation:
    """The evidence of the cells seen so far. `dates`: the order of a date's parts (one of DATE_ORDERS) where
    it is given and need not be shown."""

    def __init__(self, dates: str = "") -> None:
        self._given = dates
        self._orders = {dates} if dates else set(DATE_ORDERS)
        # Whether any date is written in another way than ISO 8601; the first cell whose order has to be
        # known, and those that left orders out.
        self._dated = False
        self._shown: list[str] = []
        self._signs: set[str] = set()
        self._unclear_number = False

    def look_at_number(self, cell: str) -> None:
        """Take a cell of a column of numbers as evidence."""
        text = cell.strip()
        if "," not in text and "." not in text:
            return
        self._unclear_number = self._unclear_number or bool(_IS_UNCLEAR.fullmatch(text))
        self._signs |= {sign for sign, shows in _SHOWS.items() if shows.fullmatch(text)}

    def look_at_date(self, cell: str) -> None:
        """Take a cell of a column of dates or times as evidence."""
        parts = _parts(cell)
        possible = parts and {order for order in DATE_ORDERS if _day(parts, order)}
        if not parts or not possible:
            return
        self._dated = True
        if self._given or _begins_with_year(parts):
            return
        if not self._shown or not self._orders <= possible:
            self._shown.append(cell.strip())
        self._orders &= possible

    def is_open(self) -> bool:
        """Whether more cells would help: a number or a date can still be read in two ways."""
        return bool(self._shown and len(self._orders) > 1) or (
            self._unclear_number and not self._signs
        )

    def raise_if_unclear(self) -> None:
        """Raise UnclearDates if there are dates, and their order is not certain."""
        if not self._shown or len(self._orders) == 1:
            return
        if self._orders:
            raise UnclearDates(
                f"{quoted(self._shown[-1])} can be read as several dates, and no other cell shows "
                "which of them is meant"
            )
        cells = " and ".join(map(quoted, (self._shown[0], self._shown[-1])))
        raise UnclearDates(f"dates are written in several ways: {cells}")

    def numbers(self, cells: list[str]) -> list[str]:
        """The cells of a column of numbers, with a decimal point and without signs between thousands."""
        if len(self._signs) != 1:
            return cells
        if "," in self._signs:
            return _each(cells, _without_comma)
        return _each(cells, _without_groups)

    def dates(self, cells: list[str]) -> list[str]:
        """The cells of a column of dates or times, as ISO 8601."""
        if not self._dated:
            return cells
        order = min(self._orders)  # the only one, or none is needed
        return _each(cells, lambda cell: _iso(cell, order))


def _each(cells: list[str], rewrite: Callable[[str], str]) -> list[str]:
    rewritten = {cell: rewrite(cell) for cell in set(cells)}
    return [rewritten[cell] for cell in cells]


def _without_comma(cell: str) -> str:
    text = cell.strip()
    if not text or not _WITH_COMMA.fullmatch(text):
        return cell
    return text.replace(".", "").replace(",", ".")


def _without_groups(cell: str) -> str:
    text = cell.strip()
    return text.replace(",", "") if _WITH_GROUPS.fullmatch(text) else cell


Parts = tuple[tuple[str, str, str], str, str]


def _parts(cell: str) -> Parts | None:
    """(three numbers, the sign between them, the time of the day); None for ISO 8601 and other texts."""
    match = _DATE.fullmatch(cell.strip())
    if match is None or (len(match[1]) == 4 and match[2] == "-"):
        return None
    return (match[1], match[3], match[4]), match[2], match[5] or ""


def _begins_with_year(parts: Parts) -> bool:
    return len(parts[0][0]) == 4


def _day(parts: Parts, order: str) -> date | None:
    """The date that the numbers are in this order; None if they are none."""
    numbers, sign, _ = parts
    if _begins_with_year(parts):
        order = "ymd"
    by_name = dict(zip(order, numbers, strict=True))
    year, month, day = by_name["y"], by_name["m"], by_name["d"]
    # Nobody writes the month first and full stops after it.
    is_odd = sign == "." and len(numbers[0]) < 4 and order != "dmy"
    if is_odd or len(year) not in (2, 4) or max(len(month), len(day)) > 2:
        return None
    try:
        return date(int(year) + (2000 if len(year) == 2 else 0), int(month), int(day))
    except ValueError:
        return None


def _iso(cell: str, order: str) -> str:
    parts = _parts(cell)
    day = parts and _day(parts, order)
    if parts is None or day is None:
        return cell
    if not parts[2]:
        return day.isoformat()
    clock = _CLOCK.fullmatch(parts[2])
    if clock is None:
        return cell
    hour, half = int(clock[1]), (clock[3] or "").upper()
    if half:
        if not 1 <= hour <= 12:
            return cell
        hour = hour % 12 + (12 if half == "P" else 0)
    return f"{day.isoformat()} {hour:02}:{clock[2]}{(clock[4] or '').strip()}"

"""The notation of a table's numbers and dates, as its own cells show it.

`Numbers` and `Dates` look at cells, and then write them as the rest of `values/` reads them:
`1.234,56 €` as `1234.56`, `31.01.2026 9:05` as `2026-01-31 09:05`. A cell that does not fit stays as it is. A
number is never guessed: `1.250` can be a thousand where no cell of its column shows the decimal mark.
"""

import re
import unicodedata
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Final, NamedTuple

from jobs.importing.values.errors import quoted
from jobs.importing.values.times import without_midnight

# The cells of a column that can be written in several ways. WHOLE: numbers that have no fraction, so that
# `1.503` is a thousand and more. DAY: a time of the day would say more than the column can hold.
NUMBER: Final = "number"
WHOLE: Final = "whole number"
TIME: Final = "time"
DAY: Final = "day"

DATE_ORDERS: Final = ("dmy", "mdy", "ymd")
POINT: Final = "point"
COMMA: Final = "comma"
DECIMALS: Final = (POINT, COMMA)

# No number and no date has more characters; each sign more would be tried in several places.
_LONGEST: Final = 60
# Signs of currencies, with the letters that some have before them (`US$`), codes (`EUR`), and words.
_SIGNS: Final = "".join(
    sign for sign in map(chr, range(0x20000)) if unicodedata.category(sign) == "Sc"
)
_MONEY: Final = (
    rf"(?:[A-Z]{{0,3}}[{re.escape(_SIGNS)}]|[A-Z]{{3}}|kr\.?|Kč|zł|Ft|SFr\.|Fr\.|Rs\.?|lei|TL)"
)
_BLANKS: Final = " \u00a0\u2009\u202f"
# Signs between thousands that are nothing else.
_BETWEEN: Final = re.compile(rf"[{_BLANKS}'\u2019]")
_BLANKED: Final = re.compile(
    rf"\d{{1,3}}([{_BLANKS}'\u2019])\d{{3}}(?:\1\d{{3}})*(?:[.,]\d*)?", re.ASCII
)
_MINUS: Final = str.maketrans("\u2212\u2013", "--")
# (what is in parentheses is below 0)
_NUMBER: Final = re.compile(
    rf"(?P<outer>{_MONEY})?[{_BLANKS}]*(?P<open>\()?[{_BLANKS}]*(?P<one>[+-]?)[{_BLANKS}]*(?P<before>{_MONEY})?"
    rf"[{_BLANKS}]*(?P<two>[+-]?)(?P<digits>[\d.,'\u2019](?:[\d.,{_BLANKS}'\u2019]*[\d.,])?)"
    rf"[{_BLANKS}]*(?P<after>{_MONEY})?[{_BLANKS}]*(?P<close>\))?",
    re.ASCII,
)
# 1,234,567.8 and 12,34,567.8 (India).
_GROUPS: Final = r"[1-9]\d{{0,2}}(?:{0}\d{{3}})+|[1-9]\d?(?:{0}\d\d)+{0}\d{{3}}|\d*"
_WITH: Final = {
    POINT: re.compile(rf"(?:{_GROUPS.format(',')})(\.\d*)?", re.ASCII),
    COMMA: re.compile(rf"(?:{_GROUPS.format('[.]')})(,\d*)?", re.ASCII),
}
_REMOVED: Final = {POINT: ",", COMMA: "."}
_POINTED: Final = re.compile(r"-?\d+\.\d+", re.ASCII)
_ISO_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)

_COMPACT: Final = re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)", re.ASCII)
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar jänner jän",
            "february feb februar feber",
            "march mar märz mär mrz maerz",
            "april apr",
            "may mai",
            "june jun juni",
            "july jul juli",
            "august aug",
            "september sep sept",
            "october oct oktober okt",
            "november nov",
            "december dec dezember dez",
        ),
        1,
    )
    for name in names.split()
}
_MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_WEEKDAY: Final = r"(?:[^\W\d_]{2,10}\.?,?\s+)?"
_CLOCK_BEHIND: Final = r"\.?(?:,?[ T]+(\d.*))?"
_DATE: Final = re.compile(
    rf"(\d{{4}}|\d{{1,2}})([./-])(\d{{1,2}})\2(\d{{4}}|\d{{1,2}}){_CLOCK_BEHIND}", re.ASCII
)
# 1. Oktober 2026, 01-Oct-26, 2026-Oct-01; Thu, Oct 1, 2026
_DAY_MONTH: Final = re.compile(
    rf"{_WEEKDAY}(\d{{1,2}}|\d{{4}})(?:\.|st|nd|rd|th)?[\s./-]*(?:of\s+)?({_MONTH})\.?[\s,./-]*(\d{{4}}|\d\d){_CLOCK_BEHIND}",
    re.IGNORECASE,
)
_MONTH_DAY: Final = re.compile(
    rf"{_WEEKDAY}({_MONTH})\.?\s*(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}}){_CLOCK_BEHIND}",
    re.IGNORECASE,
)
_CLOCK: Final = re.compile(
    r"(\d{1,2}):(\d\d(?::\d\d(?:[.,]\d+)?)?)(?: ?([AP])\.?M\.?)?( ?(?:Z|[+-]\d\d:?\d\d))?",
    re.ASCII | re.IGNORECASE,
)


class Unclear(ValueError):
    """The cells do not show how they are to be read. The message says which cells, and how to say it."""


class UnclearNumbers(Unclear):
    """The cells do not show what a point and a comma are. `cell`, and what it is with each as the decimal
    mark; `column`: its name."""

    def __init__(self, cell: str, column: str) -> None:
        self.cell, self.column = cell, column
        self.readings = {
            mark: f"{Decimal(as_number(cell, mark) or 0).normalize():f}" for mark in DECIMALS
        }
        super().__init__(
            f"{column}: {quoted(cell)} can be {self.readings[POINT]} or {self.readings[COMMA]}, and no other "
            "cell of the column shows which; say what the decimal mark is, with --decimal point or --decimal "
            "comma"
        )


class UnclearDates(Unclear):
    """The cells do not show the order of day, month and year. `found`: which cells, without how to say it."""

    def __init__(self, found: str) -> None:
        self.found = found
        super().__init__(f"{found}; say which with --dates dmy, mdy or ymd, or write 2026-01-31")


class Reading(NamedTuple):
    """A way to read a table where its cells do not show it: the order of a date's parts (one of DATE_ORDERS)
    and the decimal mark (one of DECIMALS); "" for what they show."""

    dates: str = ""
    decimal: str = ""


AS_SHOWN: Final = Reading()


class Numbers:
    """The evidence of the cells of one column of numbers, or of several that are written alike. `decimal`:
    the mark, where it is given; `whole`: the numbers have no fraction; `column`: the name for messages."""

    def __init__(self, decimal: str, column: str, *, whole: bool = False) -> None:
        self._given, self._column, self._whole = decimal, column, whole
        # The first cell that shows each decimal mark, and the first that can be read in two ways.
        self._marks: dict[str, str] = {}
        self._open = ""

    def look_at(self, cell: str) -> None:
        """Take a cell as evidence."""
        if cell.isascii() and cell.isdigit():
            return
        possible = self._possible(cell)
        if len(set(possible.values())) > 1:
            self._open = self._open or cell
        elif len(possible) == 1:
            self._marks.setdefault(next(iter(possible)), cell)

    def is_open(self) -> bool:
        """Whether more cells would help: a number can still be read in two ways."""
        return bool(self._open) and not self._marks and not self._given

    def raise_if_unclear(self) -> None:
        """Raise Unclear if the decimal mark is not certain."""
        if self.is_open():
            raise UnclearNumbers(self._open, self._column)
        if len(self._marks) > 1 and not self._given:
            cells = " and ".join(map(quoted, self._marks.values()))
            raise Unclear(
                f"{self._column}: {cells} have different decimal marks; write all of the column alike"
            )

    def written(self, cells: list[str]) -> list[str]:
        """Cells of the column with a decimal point, and nothing but digits and a minus beside it. Raises
        UnclearNumbers."""
        mark = self._given or next(iter(self._marks), "")

        def one(cell: str) -> str:
            if (cell.isascii() and cell.isdigit()) or (mark == POINT and _POINTED.fullmatch(cell)):
                return cell
            if not mark:
                possible = set(self._possible(cell).values())
                if len(possible) > 1:
                    raise UnclearNumbers(cell, self._column)
                return possible.pop() if possible else cell
            read = as_number(cell, mark)
            return cell if read is None else read

        return _each(cells, one)

    def _possible(self, cell: str) -> dict[str, str]:
        """The numbers that a cell can be, by the decimal mark."""
        read = {mark: as_number(cell, mark) for mark in DECIMALS}
        possible = {mark: number for mark, number in read.items() if number is not None}
        if not self._whole or len(set(possible.values())) < 2:
            return possible
        return {
            mark: number
            for mark, number in possible.items()
            if not number.partition(".")[2].strip("0")
        }


class Dates:
    """The evidence of a file's cells of dates and times. `order`: of a date's parts, where it is given."""

    def __init__(self, order: str = "") -> None:
        self._given = order
        self._orders = {order} if order else set(DATE_ORDERS)
        # Whether any date is written in another way than ISO 8601; the first cell whose order has to be
        # known, and those that left orders out.
        self._dated = False
        self._shown: list[str] = []

    def look_at(self, cell: str) -> None:
        """Take a cell as evidence."""
        if _ISO_DAY.match(cell):
            return
        parts = _parts(cell)
        self._dated = self._dated or bool(parts or _in_words(cell) or _COMPACT.fullmatch(cell))
        possible = parts and {order for order in DATE_ORDERS if _day(parts, order)}
        if not parts or not possible or self._given or _begins_with_year(parts):
            return
        if not self._shown or not self._orders <= possible:
            self._shown.append(cell.strip())
        self._orders &= possible

    def is_open(self) -> bool:
        """Whether more cells would help: a date can still be read in two ways."""
        return bool(self._shown) and len(self._orders) > 1

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

    def times(self, cells: list[str]) -> list[str]:
        """The cells of a column of dates or times, as ISO 8601."""
        return self._each(cells, _iso)

    def days(self, cells: list[str]) -> list[str]:
        """The cells of a column of dates, as ISO 8601; one with a time of the day stays as it is, so that its
        reject quotes what is in the file."""

        def iso_day(cell: str, order: str) -> str:
            written = _iso(cell, order)
            day = cell if written is cell else without_midnight(written)
            return day if _ISO_DAY.fullmatch(day) else cell

        return self._each(cells, iso_day)

    def _each(self, cells: list[str], written: Callable[[str, str], str]) -> list[str]:
        if not self._dated:
            return cells
        order = min(self._orders)  # the only one, or none is needed
        return _each(cells, lambda cell: written(cell, order))


def _each(cells: list[str], rewrite: Callable[[str], str]) -> list[str]:
    """The rewritten cells; the list itself if nothing is rewritten."""
    rewritten = {cell: new for cell in set(cells) if (new := rewrite(cell)) is not cell}
    return [rewritten.get(cell, cell) for cell in cells] if rewritten else cells


def as_number(cell: str, mark: str) -> str | None:
    """A cell as a plain number, if it is one with this decimal mark."""
    text = cell.strip()
    match = _NUMBER.fullmatch(text.translate(_MINUS)) if len(text) <= _LONGEST else None
    if match is None or bool(match["open"]) != bool(match["close"]):
        return None
    money = match["outer"], match["before"], match["after"]
    signs = match["open"], match["one"], match["two"]
    if sum(map(bool, money)) > 1 or sum(map(bool, signs)) > 1:
        return None
    digits = match["digits"]
    if _BETWEEN.search(digits):
        if not _BLANKED.fullmatch(digits):
            return None
        digits = _BETWEEN.sub("", digits)
    if not _WITH[mark].fullmatch(digits) or not any(map(str.isdigit, digits)):
        return None
    plain = digits.replace(_REMOVED[mark], "").replace(",", ".")
    return f"-{plain}" if {"-", "("} & set(signs) else plain


Parts = tuple[tuple[str, str, str], str, str]


def _parts(cell: str) -> Parts | None:
    """(three numbers, the sign between them, the time of the day); None for ISO 8601 and other texts."""
    text = cell.strip()
    match = _DATE.fullmatch(text) if len(text) <= _LONGEST else None
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
    return None if is_odd else _date(year, month, day)


def _date(year: str, month: str, day: str) -> date | None:
    if len(year) not in (2, 4) or max(len(month), len(day)) > 2:
        return None
    try:
        return date(int(year) + (2000 if len(year) == 2 else 0), int(month), int(day))
    except ValueError:
        return None


def _in_words(cell: str) -> tuple[date | None, str] | None:
    """The date, and the time of the day, of a text with the name of a month; None for other texts."""
    text = cell.strip()
    if len(text) > _LONGEST:
        return None
    if match := _DAY_MONTH.fullmatch(text):
        first, month, last, clock = match.groups()
        if len(first) == 4 and len(last) == 4:
            return None
        day, year = (last, first) if len(first) == 4 else (first, last)
    elif match := _MONTH_DAY.fullmatch(text):
        month, day, year, clock = match.groups()
    else:
        return None
    return _date(year, str(_MONTHS.get(month.lower(), 0)), day), clock or ""


def _iso(cell: str, order: str) -> str:
    if parts := _parts(cell):
        day, written = _day(parts, order), parts[2]
    elif words := _in_words(cell):
        day, written = words
    elif compact := _COMPACT.fullmatch(cell):
        day, written = _date(*compact.groups()), ""
    else:
        return cell
    if day is None:
        return cell
    if not written:
        return day.isoformat()
    clock = _CLOCK.fullmatch(written)
    if clock is None:
        return cell
    hour, half = int(clock[1]), (clock[3] or "").upper()
    if half:
        if not 1 <= hour <= 12:
            return cell
        hour = hour % 12 + (12 if half == "P" else 0)
    return f"{day.isoformat()} {hour:02}:{clock[2]}{(clock[4] or '').strip()}"

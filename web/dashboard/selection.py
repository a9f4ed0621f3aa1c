"""The days that a page shows and those that it compares them with, as its address says.

`range`: `today`, `yesterday`, `7d`, `30d` (the default), `90d`, `month`, `last-month`, or what the API
takes (`2026-01-01..2026-01-31`). `compare`: `previous` (the same number of days before; the default),
`year` (the same days a year earlier), `none`. A value that cannot be read leaves the page on the default
and is told beside the control.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from warehouse.domain.time import day_date
from web.http.date_range import Window, parse_range
from web.http.errors import Refusal

RANGES: Final = {
    "today": "Today",
    "yesterday": "Yesterday",
    "7d": "Last 7 days",
    "30d": "Last 30 days",
    "90d": "Last 90 days",
    "month": "This month",
    "last-month": "Last month",
}
COMPARISONS: Final = {
    "previous": "the days before",
    "year": "a year earlier",
    "none": "nothing",
}
_DEFAULT_RANGE: Final = "30d"


@dataclass(frozen=True)
class Selection:
    """`window` is shown; `before` is compared with it, None where nothing is. `range` and `compare` are
    as in the address; `is_unfinished` whether the days have today; `problem` says what could not be read."""

    range: str
    compare: str
    window: Window
    before: Window | None
    first: date
    last: date
    is_unfinished: bool
    problem: str = ""

    @property
    def query(self) -> dict[str, str]:
        """The part of the address that links to other pages carry along."""
        return {"range": self.range, "compare": self.compare}


def select(asked: Mapping[str, str], today: int, timezone: str) -> Selection:
    """The selection of an address' query. `from` and `to`, the fields of a form, stand for a range."""
    text = asked.get("range", _DEFAULT_RANGE)
    if asked.get("from") or asked.get("to"):
        text = f"{asked.get('from', '')}..{asked.get('to', '')}"
    problem = ""
    try:
        window = window_of(text, today, timezone)
    except Refusal as refusal:
        problem, text = refusal.message.replace("`range`", "The range"), _DEFAULT_RANGE
        window = parse_range(text, today, timezone)
    compare = asked.get("compare", "previous")
    if compare not in COMPARISONS:
        problem = problem or f"There is no comparison {compare!r}. Choose one of the list."
        compare = "previous"
    first, last = day_date(window.first), day_date(window.last)
    before = None
    if compare != "none":
        try:
            one, other = _earlier(first, last, compare)
            before = parse_range(f"{one}..{other}", today, timezone)
        except (OverflowError, ValueError):
            # There are no days before the calendar's first.
            before = None
    is_unfinished = window.first <= today <= window.last
    return Selection(text, compare, window, before, first, last, is_unfinished, problem)


def window_of(text: str, today: int, timezone: str) -> Window:
    """The days of a value of `range`. Raises the API's refusal."""
    return parse_range(_as_days(text, day_date(today)), today, timezone)


def _as_days(text: str, today: date) -> str:
    if text == "today":
        return f"{today}"
    if text == "yesterday":
        return f"{today - timedelta(1)}"
    first = today.replace(day=1)
    if text == "month":
        return f"{first}..{today}"
    if text == "last-month":
        last = first - timedelta(1)
        return f"{last.replace(day=1)}..{last}"
    return text


def _earlier(first: date, last: date, compare: str) -> tuple[date, date]:
    if compare == "year":
        return _year_before(first), _year_before(last)
    days = last - first + timedelta(1)
    return first - days, first - timedelta(1)


def _year_before(day: date) -> date:
    # The 29th of February has the 28th.
    return day.replace(year=day.year - 1, day=28 if (day.month, day.day) == (2, 29) else day.day)

"""`range`: the days that a request asks for, and the instants that `meta.range` states."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Final

from warehouse.domain.time import (
    MICROS_PER_DAY,
    MICROS_PER_MS,
    day_date,
    day_number,
    day_start,
    iso_millis,
)
from web.http.errors import Refusal, malformed
from web.http.parameters import quoted

DEFAULT_DAYS: Final = 30
MAX_DAYS: Final = 3_660
_SHORTHANDS: Final = {"7d": 7, "30d": 30, "90d": 90}
_DAY: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_DAY_PATTERN: Final = _DAY.pattern.translate({ord("("): None, ord(")"): None})

RANGE_DESCRIPTION: Final = (
    "The window, in days of the shop's calendar: `7d`, `30d` or `90d` (today and the days before it), one "
    f"day (`2026-01-31`), or a first and a last day (`2026-01-01..2026-01-31`), at most {MAX_DAYS:,} days."
)
RANGE_SCHEMA: Final = {
    "type": "string",
    "pattern": f"^({'|'.join(_SHORTHANDS)}|{_DAY_PATTERN}(\\.\\.{_DAY_PATTERN})?)$",
    "default": f"{DEFAULT_DAYS}d",
}

# The days that a `meta.range` can state; the calendar's first and last days reach beyond it in some zones.
_FIRST: Final = (date.min.toordinal() - date(1970, 1, 1).toordinal()) * MICROS_PER_DAY
_LAST: Final = (date.max.toordinal() - date(1970, 1, 1).toordinal() + 1) * MICROS_PER_DAY


@dataclass(frozen=True, slots=True)
class Window:
    """Days `first`..`last` (both included) of a shop.

    `end` is the last millisecond of the last day, an instant; `start_text` and `end_text` are what
    `meta.range` states.
    """

    first: int
    last: int
    end: int
    start_text: str
    end_text: str

    def dates(self) -> Iterator[tuple[int, str]]:
        """Every day, as a number and as a text."""
        for day in range(self.first, self.last + 1):
            yield day, day_date(day).isoformat()


def last_days(count: int, today: int, timezone: str) -> Window:
    """Today and the days before it, `count` in all."""
    return _window(today - count + 1, today, timezone)


@lru_cache(maxsize=4096)
def parse_range(text: str, today: int, timezone: str) -> Window:
    """The window of `7d`, `30d`, `90d`, `<day>..<day>` or one day. Raises the 400 `invalid_range`."""
    if text in _SHORTHANDS:
        return last_days(_SHORTHANDS[text], today, timezone)
    first, dots, last = text.partition("..")
    start = _parse_day(first)
    end = _parse_day(last) if dots else start
    if start > end:
        raise _invalid(f"`range` is {quoted(text)}, which ends before it starts. Swap the days.")
    if end - start >= MAX_DAYS:
        raise _invalid(f"`range` has {end - start + 1:,} days. Give at most {MAX_DAYS:,}.")
    return _window(start, end, timezone)


def _parse_day(text: str) -> int:
    parts = _DAY.fullmatch(text)
    if not parts:
        raise _invalid(
            f"`range` has {quoted(text)}, which is not a day. "
            "Give `7d`, `30d`, `90d`, a day `YYYY-MM-DD`, or `<day>..<day>`."
        )
    try:
        return day_number(date(*map(int, parts.groups())))
    except ValueError:
        raise _invalid(f"`range` has the day `{text}`, which does not exist.") from None


def _invalid(message: str) -> Refusal:
    return malformed("invalid_range", message)


@lru_cache(maxsize=4096)
def _window(first: int, last: int, timezone: str) -> Window:
    end = _start(last + 1, timezone) - MICROS_PER_MS
    return Window(first, last, end, iso_millis(_start(first, timezone)), iso_millis(end))


def _start(day: int, timezone: str) -> int:
    try:
        return day_start(day, timezone)
    except (OverflowError, ValueError):
        return min(max(day * MICROS_PER_DAY, _FIRST), _LAST)

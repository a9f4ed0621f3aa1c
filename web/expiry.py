"""The last day of a key, and the instant at which it stops."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

from warehouse.days import MICROS_PER_DAY, from_micros, to_micros

_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def end_of_day(text: str) -> int:
    """The instant at which a UTC day `YYYY-MM-DD` ends. Raises ValueError."""
    try:
        if not _DAY.fullmatch(text):
            raise ValueError
        start = datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC)
        return to_micros(start + timedelta(days=1))
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is no day YYYY-MM-DD") from None


def last_day(instant: int) -> str:
    """The UTC day at whose end an instant lies, "" where it lies at the end of none."""
    if instant % MICROS_PER_DAY:
        return ""
    return from_micros(instant - 1).date().isoformat()


def shown_end(instant: int) -> str:
    """`31 Mar 2026, end of the day UTC`, or with the minute where it is not the end of a day."""
    if last_day(instant):
        return from_micros(instant - 1).strftime("%d %b %Y, end of the day UTC").lstrip("0")
    return from_micros(instant).strftime("%d %b %Y, %H:%M UTC").lstrip("0")

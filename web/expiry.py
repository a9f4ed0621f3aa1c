"""The last day of a key, and the instant at which it stops."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

from warehouse.days import to_micros

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

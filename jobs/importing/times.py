"""ISO 8601 times as instants, and dates as days."""

import re
from datetime import UTC, date, datetime, time
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warehouse.days import MICROS_PER_DAY, MICROS_PER_SECOND, to_micros

_ISO: Final = re.compile(
    r"\d{4}-?\d\d-?\d\d"
    r"([T ]\d\d(:?\d\d(:?\d\d([.,]\d+)?)?)?( ?Z|[+-]\d\d(:?\d\d)?)?)?",
    re.ASCII | re.IGNORECASE,
)
# The two times that ISO 8601 has and `datetime` has not: the end of a day, and a leap second.
_MIDNIGHT: Final = re.compile(r"(?<=[T ])24(?=(:?00(:?00([.,]0+)?)?)?([Z +-]|$))")
_LEAP: Final = re.compile(r"(?<=[T ]\d\d:\d\d:)60|(?<=[T ]\d{4})60")

# "No such time": smaller than every instant that is taken.
UNREADABLE: Final = -(2**62)


def instant(value: Any) -> int:
    """The instant of a text (or datetime, or date), UNREADABLE where it is none. Without an offset
    it is UTC; digits after the microsecond are cut. A leap second is the first one after it."""
    if isinstance(value, str):
        return _of_text(value.strip().upper())
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time.min)
    if not isinstance(value, datetime):
        return UNREADABLE
    return to_micros(value if value.tzinfo else value.replace(tzinfo=UTC))


def _of_text(text: str) -> int:
    if not _ISO.fullmatch(text):
        return UNREADABLE
    text, midnights = _MIDNIGHT.subn("00", text)
    text, leaps = _LEAP.subn("59", text)
    try:
        found = datetime.fromisoformat(text.replace(" Z", "Z"))
    except ValueError:
        return UNREADABLE
    at = instant(found) + midnights * MICROS_PER_DAY + leaps * MICROS_PER_SECOND
    if leaps and at % MICROS_PER_DAY >= MICROS_PER_SECOND:
        return UNREADABLE  # leap seconds are the last ones of a day
    return at


def instants(values: pa.Array) -> np.ndarray:
    """The instants of a column of texts without nulls; UNREADABLE for each that is none."""
    # Most files write all their times in one way, which Arrow reads at once or refuses.
    for kind in (pa.timestamp("us", "UTC"), pa.timestamp("us")):
        try:
            return pc.cast(values, kind).cast(pa.int64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            continue
    known: dict[str, int] = {}
    found = []
    for text in values.to_pylist():
        at = known.get(text)
        if at is None:
            at = known[text] = instant(text)
        found.append(at)
    return np.array(found, dtype=np.int64)

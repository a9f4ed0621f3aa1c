"""ISO 8601 times as instants, and dates as days."""

import re
from contextlib import suppress
from datetime import UTC, date, datetime, time
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from jobs.importing.values.errors import InvalidValue, quoted
from warehouse.domain.time import (
    EARLIEST,
    LATEST,
    MICROS_PER_DAY,
    MICROS_PER_SECOND,
    day_number,
    now_micros,
    to_micros,
)

_ISO: Final = re.compile(
    r"\d{4}-?\d\d-?\d\d"
    r"([T ]\d\d(:?\d\d(:?\d\d([.,]\d+)?)?)?( ?(Z|[+-]\d\d(:?\d\d)?))?)?",
    re.ASCII | re.IGNORECASE,
)
# The spelling of most systems, which is read in a third of the time.
_USUAL: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)", re.ASCII)
# ISO 8601 has two times that `datetime` lacks: the end of a day, and a leap second.
_MIDNIGHT: Final = re.compile(r"(?<=[T ])24(?=(:?00(:?00([.,]0+)?)?)?([Z +-]|$))")
_LEAP: Final = re.compile(r"(?<=[T ]\d\d:\d\d:)60|(?<=[T ]\d{4})60")
# PostgreSQL's clients and Shopify write a space before the offset.
_SPACE: Final = re.compile(r" (?=[Z+-])")
# The end of a day that is written as its midnight.
_AT_MIDNIGHT: Final = re.compile(
    r"[T ]00:00(:00([.,]0+)?)?( ?(Z|[+-]\d\d:?\d\d))?", re.ASCII | re.IGNORECASE
)
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
# How spreadsheets store the days of 1990 to 2100.
_SERIAL: Final = re.compile(r"[3-7]\d{4}(\.\d+)?", re.ASCII)


def any_instant(value: Any) -> int:
    """An ISO 8601 text, a datetime or a date as an instant. Without an offset it is UTC; digits after
    the microsecond are cut; a leap second is the first second after it. Raises InvalidValue."""
    if isinstance(value, str):
        text = value.strip().upper()
        if _USUAL.fullmatch(text):
            with suppress(ValueError):
                return to_micros(datetime.fromisoformat(text))
        if not _ISO.fullmatch(text):
            raise _not_a_time(value)
        text, midnights = _MIDNIGHT.subn("00", text)
        text, leaps = _LEAP.subn("59", text)
        try:
            moment = datetime.fromisoformat(_SPACE.sub("", text))
        except ValueError:
            raise _not_a_time(value) from None
        at = any_instant(moment) + midnights * MICROS_PER_DAY + leaps * MICROS_PER_SECOND
        if leaps and at % MICROS_PER_DAY >= MICROS_PER_SECOND:
            raise _not_a_time(value)  # leap seconds are the last ones of a day
        return at
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time.min)
    if not isinstance(value, datetime):
        raise _not_a_time(value)
    return to_micros(value if value.tzinfo else value.replace(tzinfo=UTC))


def instant(value: Any) -> int:
    """An instant from 1970 on, at most a day ahead. Raises InvalidValue."""
    return _since(0, 1970, value)


def recent_instant(value: Any) -> int:
    """An instant from 2000 on, at most a day ahead, as events and orders have it. Raises InvalidValue."""
    return _since(EARLIEST, 2000, value)


def latest_instant() -> int:
    """The last instant that is accepted now: a producer's clock or time zone may be wrong by as much."""
    return min(now_micros() + MICROS_PER_DAY, LATEST - 1)


def _since(earliest: int, year: int, value: Any) -> int:
    at = any_instant(value)
    if not earliest <= at < LATEST:
        raise InvalidValue(f"{quoted(value)} is before {year} or after 2100")
    if at > latest_instant():
        raise InvalidValue(f"{quoted(value)} is more than a day ahead")
    return at


def _not_a_time(value: Any) -> InvalidValue:
    return InvalidValue(
        f"{quoted(value)} is not an ISO 8601 time; an example is 2026-01-31T23:59:59Z"
    )


def uniform_instants(texts: pa.Array) -> npt.NDArray[np.int64] | None:
    """The instants of texts without nulls, or None unless all are written in one way that Arrow
    reads."""
    for kind in (pa.timestamp("us", "UTC"), pa.timestamp("us")):
        try:
            return pc.cast(texts, kind).cast(pa.int64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            continue
    return None


def without_midnight(written: str) -> str:
    """A day that is written with its midnight behind it, as the day alone; any other text as it is."""
    day = _DAY.match(written)
    return day[0] if day and _AT_MIDNIGHT.fullmatch(written, day.end()) else written


def day(value: Any) -> int:
    """A date (`2025-01-31`), alone or with a midnight, as a day. Raises InvalidValue."""
    if isinstance(value, datetime) and value.time() == time.min:
        return day_number(value.date())
    if isinstance(value, date) and not isinstance(value, datetime):
        return day_number(value)
    written = value.strip() if isinstance(value, str) else ""
    try:
        if match := _DAY.fullmatch(without_midnight(written)):
            return day_number(date.fromisoformat(match[0]))
    except ValueError:
        pass
    serial = ", not as the number of a day" if _SERIAL.fullmatch(written) else ""
    raise InvalidValue(f"{quoted(value)} is not a date; write it as 2026-01-31{serial}")

"""Instants and days.

An instant is an integer: microseconds since 1970-01-01T00:00:00Z, on both databases. A day is an
integer too: days since 1970-01-01 in the calendar of a shop's timezone, by the packaged rules (`zones.py`) or
those of an edition. Nothing here reads a clock.
"""

from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from warehouse.domain.zones import zone

MICROS_PER_MS: Final = 1_000
MICROS_PER_SECOND: Final = 1_000_000
MICROS_PER_DAY: Final = 86_400 * MICROS_PER_SECOND

# The most that the clocks of two machines may differ. An instant that is further ahead than this, beyond
# what it may be ahead anyway, was written by a clock that was wrong.
CLOCK_SKEW: Final = 60 * MICROS_PER_SECOND

# "Has not happened": greater than every instant, so that a minimum needs no special case.
NEVER: Final = 2**62
# The day of NEVER, and of an order or visit that does not exist.
NO_DAY: Final = 2**31 - 1

EPOCH: Final = date(1970, 1, 1)
_EPOCH_UTC: Final = datetime(1970, 1, 1, tzinfo=UTC)

EARLIEST: Final = int(datetime(2000, 1, 1, tzinfo=UTC).timestamp()) * MICROS_PER_SECOND
LATEST: Final = int(datetime(2101, 1, 1, tzinfo=UTC).timestamp()) * MICROS_PER_SECOND


def to_micros(moment: datetime) -> int:
    """An aware datetime as an instant."""
    since = moment - _EPOCH_UTC
    # A fifth of the time of a division by a microsecond: imports read millions of times.
    return (since.days * 86_400 + since.seconds) * MICROS_PER_SECOND + since.microseconds


def from_micros(instant: int) -> datetime:
    """An instant as an aware datetime in UTC."""
    return _EPOCH_UTC + timedelta(microseconds=instant)


def iso_millis(instant: int) -> str:
    """An instant as every answer writes it: `2026-01-31T23:59:59.999Z`."""
    return from_micros(instant).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def day_number(day: date) -> int:
    """A calendar date as a day."""
    return (day - EPOCH).days


def day_date(day: int) -> date:
    """A day as a calendar date."""
    return EPOCH + timedelta(days=day)


def local_time(instant: int, timezone: str | ZoneInfo) -> datetime:
    """An instant as the clocks of a time zone show it."""
    rules = zone(timezone) if isinstance(timezone, str) else timezone
    return from_micros(instant).astimezone(rules)


def local_day(instant: int, timezone: str | ZoneInfo) -> int:
    """The shop's day in which one instant lies."""
    return day_number(local_time(instant, timezone).date())


def day_start(day: int, timezone: str | ZoneInfo) -> int:
    """The first instant of a shop's day. The day ends where the next one starts, 23 to 25 h later.

    If the zone's clocks skip midnight, the day starts at the first instant after the gap.
    """
    rules = zone(timezone) if isinstance(timezone, str) else timezone
    wall = datetime.combine(day_date(day), time.min, rules)
    start = to_micros(wall.astimezone(UTC))
    if local_day(start, rules) < day:  # midnight was skipped: the gap's end is the start
        start = to_micros(wall.replace(fold=1).astimezone(UTC))
        low, high = min(start, start - MICROS_PER_DAY // 4), start + MICROS_PER_DAY // 4
        while low < high:
            middle = (low + high) // 2
            if local_day(middle, rules) < day:
                low = middle + 1
            else:
                high = middle
        start = low
    return start

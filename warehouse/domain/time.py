"""Instants and days, and the schedules of cron.

An instant is an integer: microseconds since 1970-01-01T00:00:00Z, on both databases. A day is an
integer too: days since 1970-01-01 in the calendar of a shop's timezone, by the packaged rules or those of an
edition.

The rules of time zones are those of the package `tzdata`, never the system's: two hosts with the same program
make the same days, and an upgrade of the system changes none. No other module asks `zoneinfo` for a zone by
its name: that would take the system's files first.
"""

import re
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from importlib import resources
from io import BytesIO
from time import time_ns
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

import tzdata

if TYPE_CHECKING:
    from apscheduler.triggers.cron import CronTrigger

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
_EPOCH: Final = _EPOCH_UTC.replace(tzinfo=None)

EARLIEST: Final = int(datetime(2000, 1, 1, tzinfo=UTC).timestamp()) * MICROS_PER_SECOND
LATEST: Final = int(datetime(2101, 1, 1, tzinfo=UTC).timestamp()) * MICROS_PER_SECOND

ZONES_VERSION: Final = tzdata.IANA_VERSION
"""The version of the rules of time zones, such as `2026f`: a later one is the greater text."""

_FILES: Final = resources.files("tzdata")

# "Factory" stands for a machine that nobody has set up.
ZONES: Final = frozenset((_FILES / "zones").read_text("utf-8").split()) - {"Factory"}
"""The names of all zones."""

# Weekdays by cron's numbers, where Sunday is 0 and 7; APScheduler counts from Monday.
_WEEKDAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun")


def now_micros() -> int:
    """The present instant, by the clock of this host."""
    return time_ns() // 1_000


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
    # A third of the time of a moment with a time zone: answers write thousands.
    return (_EPOCH + timedelta(0, 0, instant)).isoformat("T", "milliseconds") + "Z"


def day_number(day: date) -> int:
    """A calendar date as a day."""
    return (day - EPOCH).days


def day_date(day: int) -> date:
    """A day as a calendar date."""
    return EPOCH + timedelta(days=day)


@cache
def zone_rules(name: str) -> bytes:
    """The rules of a zone, in the format TZif."""
    return _FILES.joinpath("zoneinfo", *name.split("/")).read_bytes()


@cache
def zone(name: str) -> ZoneInfo:
    """A zone by its name."""
    return read_zone(name, zone_rules(name))


def read_zone(name: str, rules: bytes) -> ZoneInfo:
    """A zone as rules in the format TZif have it."""
    return ZoneInfo.from_file(BytesIO(rules), key=name)


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


def cron(text: str) -> "CronTrigger":
    """A cron expression of five fields, in UTC. Raises ValueError: what a text must be, or is not."""
    # Imported here: it takes a tenth of a second, and few processes ask for it.
    from apscheduler.triggers.cron import CronTrigger

    fields = text.split()
    if len(fields) != 5:
        raise ValueError("must be a cron expression of five fields")
    try:
        fields[4] = ",".join(_weekday_names(part) for part in fields[4].split(","))
        return CronTrigger.from_crontab(" ".join(fields), timezone=UTC)
    except ValueError as error:
        raise ValueError(f"is no cron expression ({error})") from None


def _weekday_names(part: str) -> str:
    """Weekdays that are numbers, or a range of them, as names; anything else as it is."""
    days = re.fullmatch(r"([0-7])(?:-([0-7]))?", part)
    if not days:
        return part
    first = int(days[1])
    last = int(days[2] or first)
    if last < first:
        raise ValueError(f"the range {part} ends before it begins")
    return ",".join(dict.fromkeys(_WEEKDAYS[first : last + 1]))

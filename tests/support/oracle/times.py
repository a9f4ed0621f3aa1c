"""Instants, the shop's days and `range`: contract sections 1 ("day"), 2 (times) and 4 (common)."""

from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo


def instant(text: str) -> datetime:
    """Section 2: "Times are ISO 8601; without an offset they are UTC." Microseconds are kept."""
    at = datetime.fromisoformat(text)
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


@lru_cache(maxsize=100_000)
def local_day(at: datetime, timezone: ZoneInfo) -> date:
    """Section 1: "a calendar day in the shop's timezone"."""
    return at.astimezone(timezone).date()


def day_start(day: date, timezone: ZoneInfo) -> datetime:
    """The UTC instant at which a day of the shop begins."""
    return datetime.combine(day, time(), timezone).astimezone(UTC)


def day_end(day: date, timezone: ZoneInfo) -> datetime:
    """The last millisecond of a day of the shop, as `meta.range.to` states it."""
    return day_start(day + timedelta(days=1), timezone) - timedelta(milliseconds=1)


def iso(at: datetime) -> str:
    """An instant as `meta.range` writes it: UTC, milliseconds, `Z`."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def days_between(first: date, last: date) -> list[date]:
    """Every day of a range, both ends included."""
    return [first + timedelta(days=n) for n in range((last - first).days + 1)]


def resolve_range(text: str | None, today: date) -> tuple[date, date]:
    """The first and the last day of `range`; `today` is the shop's.

    Interface, parameter rule 1; section 4: "`7d` is today (in the shop's timezone) and the six
    days before it; `30d`, `90d` and the default likewise."
    """
    text = text or "30d"
    if text in ("7d", "30d", "90d"):
        return today - timedelta(days=int(text[:-1]) - 1), today
    first, _, last = text.partition("..")
    return date.fromisoformat(first), date.fromisoformat(last or first)

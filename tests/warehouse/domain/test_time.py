"""Instants and days, in the calendars of shops."""

from datetime import UTC, date, datetime

import pytest

from warehouse.domain.time import (
    MICROS_PER_SECOND,
    day_number,
    day_start,
    from_micros,
    iso_millis,
    local_day,
    to_micros,
)

HOUR = 3600 * MICROS_PER_SECOND


def instant(text: str) -> int:
    return to_micros(datetime.fromisoformat(text))


@pytest.mark.parametrize(
    ("zone", "day", "start", "hours"),
    [
        ("Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00Z", 23),
        ("Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00Z", 25),
        ("America/New_York", "2026-03-08", "2026-03-08T05:00:00Z", 23),
        ("America/New_York", "2026-11-01", "2026-11-01T04:00:00Z", 25),
        ("Australia/Lord_Howe", "2026-10-04", "2026-10-03T13:30:00Z", 23.5),
        # Midnight does not exist: the day starts at 01:00.
        ("America/Santiago", "2026-09-06", "2026-09-06T04:00:00Z", 23),
        ("Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00Z", 23),
        # Midnight exists twice: the day starts at the first one.
        ("America/Havana", "2025-11-02", "2025-11-02T04:00:00Z", 25),
        ("UTC", "2026-03-29", "2026-03-29T00:00:00Z", 24),
    ],
)
def test_days_of_23_to_25_hours(zone: str, day: str, start: str, hours: float) -> None:
    number = day_number(date.fromisoformat(day))
    first, following = day_start(number, zone), day_start(number + 1, zone)
    assert (first, following - first) == (instant(start), hours * HOUR)
    around = (first - 1, first, following - 1, following)
    days = [local_day(one, zone) for one in around]
    assert days == [number - 1, number, number, number + 1]


def test_a_day_that_a_zone_skipped_is_empty() -> None:
    # Samoa went from 29 to 31 December 2011.
    skipped = day_number(date(2011, 12, 30))
    assert day_start(skipped, "Pacific/Apia") == day_start(skipped + 1, "Pacific/Apia")


def test_an_instant_and_its_text() -> None:
    assert iso_millis(instant("2026-01-31T23:59:59.999900Z")) == "2026-01-31T23:59:59.999Z"
    assert from_micros(to_micros(datetime(2026, 1, 31, tzinfo=UTC))).day == 31

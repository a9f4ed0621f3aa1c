"""Days of many instants at once, in the calendars of shops."""

from datetime import date
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.facts.calendar import local_days
from warehouse.domain.time import (
    EARLIEST,
    LATEST,
    NEVER,
    NO_DAY,
    day_date,
    day_number,
    day_start,
    from_micros,
)
from warehouse.domain.time import zone as rules_of


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("Europe/Berlin", "2026-03-29"),
        ("Europe/Berlin", "2026-10-25"),
        ("America/New_York", "2026-03-08"),
        ("America/New_York", "2026-11-01"),
        ("Australia/Lord_Howe", "2026-10-04"),
        ("America/Santiago", "2026-09-06"),
        ("Africa/Cairo", "2026-04-24"),
        ("America/Havana", "2026-11-01"),
        ("America/Havana", "2026-03-08"),
        ("Africa/Cairo", "2026-10-29"),
        ("Asia/Beirut", "2026-03-29"),
        ("Asia/Beirut", "2026-10-24"),
        ("Atlantic/Azores", "2026-03-29"),
        ("America/Nuuk", "2026-03-28"),
        ("America/Nuuk", "2026-10-24"),
        ("UTC", "2026-03-29"),
    ],
)
def test_a_day_of_any_length_has_its_first_and_its_last_instant(zone: str, day: str) -> None:
    number = day_number(date.fromisoformat(day))
    first, following = day_start(number, zone), day_start(number + 1, zone)
    around = np.array([first - 1, first, following - 1, following, NEVER], dtype=np.int64)
    assert local_days(around, rules_of(zone)).tolist() == [
        number - 1,
        number,
        number,
        number + 1,
        NO_DAY,
    ]


@settings(deadline=None)
@given(
    st.lists(st.integers(EARLIEST, LATEST - 1), max_size=20),
    st.sampled_from(["UTC", "Europe/Berlin", "America/Santiago", "Asia/Kathmandu", "Pacific/Apia"]),
)
def test_many_instants_lie_in_the_days_of_the_calendar(instants: list[int], zone: str) -> None:
    days = local_days(np.array(instants, dtype=np.int64), rules_of(zone)).tolist()
    assert [day_date(day) for day in days] == [
        from_micros(one).astimezone(ZoneInfo(zone)).date() for one in instants
    ]


def test_a_day_that_a_zone_left_out_has_no_instant() -> None:
    """30 December 2011 on Samoa, which moved to the other side of the date line."""
    day = day_number(date(2011, 12, 30))
    apia = rules_of("Pacific/Apia")
    assert day_start(day, apia) == day_start(day + 1, apia)
    midnight = day_start(day, apia)
    assert local_days(np.array([midnight - 1, midnight]), apia).tolist() == [day - 1, day + 1]

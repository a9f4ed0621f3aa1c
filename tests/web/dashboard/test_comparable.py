"""The days that are compared. Today is 2024-03-31."""

from datetime import date

import pytest
from sqlalchemy import create_engine

from warehouse.domain.time import day_number
from web.dashboard.compare import (
    EVENTS,
    NO_DATA,
    NOT_COMPARED,
    ORDERS,
    TOO_YOUNG,
    Comparable,
    Pair,
)
from web.dashboard.selection import select
from web.http.current_request import Shop

TODAY = day_number(date(2024, 3, 31))


def comparable(
    data_begin: date = date(2000, 1, 1), days_to_buy: int = 30, /, **asked: str
) -> Comparable:
    """The pairs of a page of a shop whose data begin on a day, with so many days to buy."""
    first_day = day_number(data_begin)
    return Comparable(
        create_engine("sqlite://").connect(),
        Shop("UTC", 1, "a.example", "USD", 1, 0, 0, days_to_buy),
        select(asked, TODAY, "UTC", days_to_buy),
        TODAY,
        {EVENTS: first_day, ORDERS: first_day},
    )


def days(pair: Pair | None) -> tuple[str, str]:
    assert pair
    assert not pair.reason
    return pair.days_text, pair.before_text


@pytest.mark.parametrize(
    ("asked", "shown", "before"),
    [
        # Today is shown and not compared; as many days before as are whole.
        ({"range": "7d"}, "2024-03-25..2024-03-30", "2024-03-19..2024-03-24"),
        ({"range": "yesterday"}, "2024-03-30..2024-03-30", "2024-03-29..2024-03-29"),
        ({"range": "last-month"}, "2024-02-01..2024-02-29", "2024-01-03..2024-01-31"),
        (
            {"range": "last-month", "compare": "year"},
            "2024-02-01..2024-02-29",
            "2023-02-01..2023-03-01",
        ),
        (
            {"range": "2024-02-29..2024-03-01", "compare": "year"},
            "2024-02-29..2024-03-01",
            "2023-02-28..2023-03-01",
        ),
    ],
)
def test_whole_days(asked: dict[str, str], shown: str, before: str) -> None:
    assert days(comparable(**asked).whole_days()) == (shown, before)


@pytest.mark.parametrize(
    ("asked", "within", "shown", "before"),
    [
        # The most days to buy of 7, 3 and 1 that leave half of the whole days.
        ({"range": "30d"}, 7, "2024-03-02..2024-03-23", "2024-02-09..2024-03-01"),
        ({"range": "7d"}, 3, "2024-03-25..2024-03-27", "2024-03-22..2024-03-24"),
        (
            {"range": "2024-03-29..2024-03-31"},
            1,
            "2024-03-29..2024-03-29",
            "2024-03-28..2024-03-28",
        ),
        ({"range": "last-month"}, 7, "2024-02-01..2024-02-29", "2024-01-03..2024-01-31"),
        # Chosen ones need one day alone.
        (
            {"range": "7d", "within": "1"},
            1,
            "2024-03-25..2024-03-29",
            "2024-03-20..2024-03-24",
        ),
        ({"range": "30d", "within": "14"}, 14, "2024-03-02..2024-03-16", "2024-02-16..2024-03-01"),
    ],
)
def test_equal_age(asked: dict[str, str], within: int, shown: str, before: str) -> None:
    pair = comparable(**asked).equal_age()
    assert days(pair) == (shown, before)
    assert pair
    assert pair.within == within


@pytest.mark.parametrize(
    ("asked", "since"),
    [
        ({"range": "today"}, "2024-04-02"),
        ({"range": "yesterday"}, "2024-04-01"),
        ({"range": "7d", "within": "14"}, "2024-04-09"),
    ],
)
def test_too_young(asked: dict[str, str], since: str) -> None:
    pair = comparable(**asked).equal_age()
    assert pair
    assert (pair.reason, f"{pair.since}") == (TOO_YOUNG, since)


def test_days_without_data_are_not_compared() -> None:
    pair = comparable(date(2024, 3, 20), range="7d").whole_days()
    assert pair
    assert (pair.reason, f"{pair.since}") == (NO_DATA, "2024-03-20")
    # A part of the first day may be missing.
    pair = comparable(date(2024, 3, 19), range="7d").whole_days()
    assert pair
    assert pair.reason == NO_DATA
    assert days(comparable(date(2024, 3, 18), range="7d").whole_days())
    # The submissions that are old enough have their own days before.
    assert days(comparable(date(2024, 3, 20), range="7d").equal_age())


def test_today_alone_and_nothing_are_not_compared() -> None:
    pair = comparable(range="today").whole_days()
    assert pair
    assert pair.reason == NOT_COMPARED
    assert comparable(compare="none").whole_days() is None
    # They are shown at equal age all the same.
    alone = comparable(range="30-days", compare="none").equal_age()
    assert alone
    assert (alone.is_alone, alone.days_text, alone.within) == (True, "2024-03-01..2024-03-23", 7)
    # There are no days before the calendar's first.
    assert comparable(range="0001-01-01..0001-01-02").whole_days() is None


def test_nobody_has_more_days_to_buy_than_the_attribution_window() -> None:
    assert comparable(date(2000, 1, 1), 2, range="90d").within == 1
    assert comparable(date(2000, 1, 1), 5, range="90d").within == 3
    assert comparable(date(2000, 1, 1), 1, range="90d").within == 1


def test_two_forms_are_compared_over_days_that_are_old_enough() -> None:
    found = comparable(range="7d", compare="none").old_enough()
    assert found
    assert (found[0].last, found[1]) == (TODAY - 4, 3)
    assert comparable(range="yesterday").old_enough() is None

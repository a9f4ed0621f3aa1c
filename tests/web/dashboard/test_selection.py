"""The days of an address. Today is 2024-03-31."""

from datetime import date

import pytest

from warehouse.domain.time import day_number
from web.dashboard.selection import select

TODAY = day_number(date(2024, 3, 31))


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        # Pages end with the last whole day.
        ({}, "2024-03-01..2024-03-30"),
        ({"range": "7-days"}, "2024-03-24..2024-03-30"),
        ({"range": "90-days"}, "2024-01-01..2024-03-30"),
        # An address takes the days of the API as well, which have today.
        ({"range": "30d"}, "2024-03-02..2024-03-31"),
        ({"range": "today"}, "2024-03-31..2024-03-31"),
        ({"range": "yesterday"}, "2024-03-30..2024-03-30"),
        ({"range": "7d"}, "2024-03-25..2024-03-31"),
        ({"range": "month"}, "2024-03-01..2024-03-30"),
        ({"range": "last-month"}, "2024-02-01..2024-02-29"),
        ({"from": "2024-01-05", "to": "2024-01-06"}, "2024-01-05..2024-01-06"),
    ],
)
def test_days(asked: dict[str, str], shown: str) -> None:
    chosen = select(asked, TODAY, "UTC", 30)
    assert f"{chosen.first}..{chosen.last}" == shown


def test_the_first_of_a_month_has_today_alone() -> None:
    chosen = select({"range": "month"}, TODAY + 1, "UTC", 30)
    assert chosen.first == chosen.last == date(2024, 4, 1)


def test_what_links_carry_along() -> None:
    assert select({}, TODAY, "UTC", 30).query == {"range": "30-days", "compare": "previous"}
    asked = {"range": "7d", "compare": "year", "clock": "submission", "within": "3"}
    assert select(asked, TODAY, "UTC", 30).query == asked


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"range": "soon"}, "The range has `soon`"),
        ({"range": "31-days"}, "The range has `31-days`"),
        ({"range": "2024-02-30"}, "The range has the day"),
        ({"range": "2024-02-02..2024-02-01"}, "ends before it starts"),
        ({"from": "2024-01-01"}, "The range has ``"),
        ({"compare": "twin"}, "There is no comparison 'twin'"),
        ({"clock": "sand"}, "There is no clock 'sand'"),
        ({"within": "2"}, "Nothing can be compared within '2' days"),
        ({"within": "31"}, "Nothing can be compared within '31' days"),
        ({"range": "0001-01-02..0001-01-03"}, ""),
    ],
)
def test_what_cannot_be_read_leaves_the_default(asked: dict[str, str], said: str) -> None:
    chosen = select(asked, TODAY, "UTC", 30)
    assert said in chosen.problem
    if said:
        assert chosen.query == {"range": "30-days", "compare": "previous"}

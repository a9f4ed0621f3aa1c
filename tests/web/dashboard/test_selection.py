"""The days of an address, and those they are compared with. Today is 2024-03-31."""

from datetime import date

import pytest

from warehouse.domain.time import day_date, day_number
from web.dashboard.selection import select

TODAY = day_number(date(2024, 3, 31))


def days(**asked: str) -> tuple[str, str]:
    chosen = select(
        {"from" if key == "start" else key: text for key, text in asked.items()}, TODAY, "UTC"
    )
    before = chosen.before
    shown = f"{chosen.first}..{chosen.last}"
    return shown, f"{day_date(before.first)}..{day_date(before.last)}" if before else ""


@pytest.mark.parametrize(
    ("asked", "shown", "before"),
    [
        ({}, "2024-03-02..2024-03-31", "2024-02-01..2024-03-01"),
        ({"range": "today"}, "2024-03-31..2024-03-31", "2024-03-30..2024-03-30"),
        ({"range": "yesterday"}, "2024-03-30..2024-03-30", "2024-03-29..2024-03-29"),
        ({"range": "7d"}, "2024-03-25..2024-03-31", "2024-03-18..2024-03-24"),
        ({"range": "month"}, "2024-03-01..2024-03-31", "2024-01-30..2024-02-29"),
        ({"range": "last-month"}, "2024-02-01..2024-02-29", "2024-01-03..2024-01-31"),
        (
            {"range": "last-month", "compare": "year"},
            "2024-02-01..2024-02-29",
            "2023-02-01..2023-02-28",
        ),
        ({"range": "2024-01-01..2024-01-02", "compare": "none"}, "2024-01-01..2024-01-02", ""),
        (
            {"start": "2024-01-05", "to": "2024-01-06"},
            "2024-01-05..2024-01-06",
            "2024-01-03..2024-01-04",
        ),
    ],
)
def test_days(asked: dict[str, str], shown: str, before: str) -> None:
    assert days(**asked) == (shown, before)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"range": "soon"}, "The range has `soon`"),
        ({"range": "2024-02-30"}, "The range has the day"),
        ({"range": "2024-02-02..2024-02-01"}, "ends before it starts"),
        ({"from": "2024-01-01"}, "The range has ``"),
        ({"compare": "twin"}, "There is no comparison 'twin'"),
        ({"range": "0001-01-02..0001-01-03"}, ""),
    ],
)
def test_what_cannot_be_read_leaves_the_default(asked: dict[str, str], said: str) -> None:
    chosen = select(asked, TODAY, "UTC")
    assert said in chosen.problem
    if said:
        assert (chosen.range, chosen.compare) == ("30d", "previous")

"""The links of the frame. Today is 2024-03-31."""

from datetime import date

import pytest
from flask import Flask

from warehouse.domain.time import day_number
from web.dashboard.selection import DayLinks, Link, day_links, select

APP = Flask(__name__)
TODAY = day_number(date(2024, 3, 31))


def links(**asked: str) -> DayLinks:
    with APP.test_request_context("/revenue", query_string=asked):
        return day_links(select(asked, TODAY, "UTC", 30), TODAY, "UTC", 30, 7)


@pytest.mark.parametrize(
    ("shown", "earlier", "later"),
    [
        ("7-days", "2024-03-17..2024-03-23", None),
        ("7d", "2024-03-18..2024-03-24", None),
        ("today", "yesterday", None),
        ("yesterday", "2024-03-29..2024-03-29", "today"),
        ("2024-03-17..2024-03-23", "2024-03-10..2024-03-16", "7-days"),
        # As many days, at the latest until yesterday.
        ("2024-03-20..2024-03-26", "2024-03-13..2024-03-19", "7-days"),
        ("last-month", "2024-01-03..2024-01-31", "2024-03-01..2024-03-29"),
        ("2024-04-01..2024-04-02", "2024-03-30..2024-03-31", None),
        ("0001-01-03..0001-01-05", None, "0001-01-06..0001-01-08"),
    ],
)
def test_as_many_days_before_and_after(shown: str, earlier: str | None, later: str | None) -> None:
    found = links(range=shown)
    assert (found.earlier and found.earlier.address) == (earlier and f"/revenue?range={earlier}")
    assert (found.later and found.later.address) == (later and f"/revenue?range={later}")


def test_days_have_a_name() -> None:
    assert links(range="7d").earlier == Link(
        "Mar 18, 2024 to Mar 24, 2024", "/revenue?range=2024-03-18..2024-03-24"
    )
    assert links(range="yesterday").later == Link("Today", "/revenue?range=today")


def test_links_keep_the_rest_of_the_address() -> None:
    found = links(**{"from": "2024-03-01", "to": "2024-03-02", "compare": "none", "clock": "order"})
    assert [link.address for link in found.ranges][:2] == [
        "/revenue?compare=none&clock=order&range=today",
        "/revenue?compare=none&clock=order&range=yesterday",
    ]
    assert found.kept == {"compare": "none", "clock": "order"}
    assert found.comparisons[1].address == (
        "/revenue?from=2024-03-01&to=2024-03-02&compare=year&clock=order"
    )


def test_what_is_shown_is_marked() -> None:
    found = links(range="7-days", compare="year")
    assert [link.name for link in found.ranges if link.is_current] == ["Last 7 days"]
    assert [link.name for link in found.comparisons if link.is_current] == ["a year earlier"]


def test_other_days_to_buy_and_the_other_clock() -> None:
    assert [(link.name, link.is_current) for link in links().days_to_buy] == [
        ("1 day", False),
        ("3 days", False),
        ("7 days", True),
        ("14 days", False),
        ("30 days", False),
    ]
    assert links().days_to_buy[-1].address == "/revenue?within=30"
    assert [(link.address, link.is_current) for link in links(clock="submission").clocks] == [
        ("/revenue?clock=order", False),
        ("/revenue?clock=submission", True),
    ]


def test_a_comparison_goes_and_comes_back() -> None:
    assert links().toggle == "/revenue?compare=none"
    assert links(compare="none").toggle == "/revenue?compare=previous"
    assert links(compare="year").toggle == "/revenue?compare=none"


def test_keys() -> None:
    assert "".join(link.key or "-" for link in links().ranges) == "DEWT-M-"

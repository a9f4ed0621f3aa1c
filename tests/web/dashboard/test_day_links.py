"""The links of the frame. Today is 2024-03-31, but where a whole page is asked for."""

import re
from datetime import date
from html import unescape

import pytest
from flask import Flask

from tests.web.dashboard.conftest import Seen
from warehouse.domain.time import day_number
from web.dashboard.selection import Link, as_many_days, select

APP = Flask(__name__)
TODAY = day_number(date(2024, 3, 31))
_LINE = re.compile(r'<li><a href="([^"]*)"( aria-current="true")?(?: data-key="(.)")?>([^<]*)')


def links(**asked: str) -> tuple[Link | None, Link | None]:
    """Earlier, later."""
    with APP.test_request_context("/revenue", query_string=asked):
        return as_many_days(select(asked, TODAY, "UTC", 30), TODAY, "UTC")


def menu(page: str, part: str) -> list[tuple[str, str, bool, str]]:
    """(name, address, whether it is marked, key) of each line of the menu that has this text."""
    (lines,) = re.findall(rf"{part}.*?<ul>(.*?)</ul>", page, re.S)
    found = _LINE.findall(lines)
    return [(name, unescape(address), bool(mark), key) for address, mark, key, name in found]


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
    addresses = [link and link[1] for link in links(range=shown)]
    assert addresses == [day and f"/revenue?range={day}" for day in (earlier, later)]


def test_days_have_a_name() -> None:
    week = "Mar 18, 2024 to Mar 24, 2024", "/revenue?range=2024-03-18..2024-03-24"
    assert links(range="7d")[0] == week
    assert links(range="yesterday")[1] == ("Today", "/revenue?range=today")


def test_links_keep_the_rest_of_the_address(seen: Seen) -> None:
    asked = {"from": "2024-03-01", "to": "2024-03-02", "compare": "none", "clock": "order"}
    page = seen.page("/forms", **asked)
    assert [address for _, address, _, _ in menu(page, "Days: ")][:2] == [
        "/forms?compare=none&clock=order&range=today",
        "/forms?compare=none&clock=order&range=yesterday",
    ]
    own_days = page.partition("Days: ")[2].partition("</form>")[0]
    kept = re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', own_days)
    assert kept == [("compare", "none"), ("clock", "order")]
    assert menu(page, "not compared")[1][1] == (
        "/forms?from=2024-03-01&to=2024-03-02&compare=year&clock=order"
    )


def test_what_is_shown_is_marked_and_has_a_key(seen: Seen) -> None:
    page = seen.page("/revenue", range="7-days", compare="year")
    days = menu(page, "Days: ")
    assert [name.strip() for name, _, is_current, _ in days if is_current] == ["Last 7 days"]
    assert [key for *_, key in days] == ["d", "e", "w", "t", "", "m", ""]
    compared = menu(page, "vs. a year earlier")
    assert [name for name, _, is_current, _ in compared if is_current] == ["a year earlier"]


def test_other_days_to_buy_and_the_other_clock(seen: Seen) -> None:
    page = seen.page("/forms", within="7", clock="submission")
    assert menu(page, "Sign-ups bought within") == [
        ("1 day", "/forms?within=1&clock=submission", False, ""),
        ("3 days", "/forms?within=3&clock=submission", False, ""),
        ("7 days", "/forms?within=7&clock=submission", True, ""),
        ("14 days", "/forms?within=14&clock=submission", False, ""),
        ("30 days", "/forms?within=30&clock=submission", False, ""),
    ]
    clocks = menu(page, "Revenue of a form")
    assert [(address, is_current) for _, address, is_current, _ in clocks] == [
        ("/forms?within=7&clock=order", False),
        ("/forms?within=7&clock=submission", True),
    ]


@pytest.mark.parametrize(
    ("compare", "other"), [("", "none"), ("none", "previous"), ("year", "none")]
)
def test_a_comparison_goes_and_comes_back(seen: Seen, compare: str, other: str) -> None:
    page = seen.page("/revenue", **({"compare": compare} if compare else {}))
    assert f'<a hidden href="/revenue?compare={other}" data-key="x">' in page

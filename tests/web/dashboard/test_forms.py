"""The list of forms: search, order, pages; and two forms side by side."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.conftest import NewUrl
from tests.support.shop_builder import ShopBuilder
from tests.web.dashboard.conftest import Seen, shop_on
from tests.web.dashboard.figure_texts import Asked, rate
from tests.web.dashboard.page_figures import figures
from tests.web.dashboard.page_text import Section, sections
from tests.web.dashboard.written import english, nothing
from warehouse.domain.rounding import cents
from web.dashboard import statistics

QUERIES = (
    {"range": "30d", "compare": "previous"},
    {"range": "90d", "compare": "none"},
)
RATES = (
    ("Started, of those who saw it", "starts", "views"),
    ("Submitted, of those who saw it", "submissions", "views"),
    ("Bought in 3 days, of those who submitted", "convertedSubmissions", "submissions"),
)
AGE = "within 3 days of submitting, by those who have had so long"


def test_forms_that_only_events_know(seen: Seen) -> None:
    page = seen.page("/forms", range="30d")
    unknown = {
        row["formId"]: row["views"]
        for row in seen.api("/forms/funnel", range="30d")
        if row["formName"] is None
    }
    assert unknown
    shown = {
        each.row["form"]: each.now
        for each in figures(page)
        if each.table == "forms" and each.name == "views" and each.row.get("form") in unknown
    }
    assert shown == unknown
    for form_id in unknown:
        assert f'<bdi title="{form_id}">form {form_id[:6]}…, not named</bdi>' in page
        assert f'<bdi title="{form_id}">' in seen.page("/", range="30d")
        assert f"/forms/{form_id}" not in page
    found = seen.page("/forms", range="30d", q=form_id)
    assert {
        each.row["form"]
        for each in figures(found)
        if each.table == "forms" and each.row.get("form")
    } == {form_id}


def test_a_value_of_sign_ups_opens_its_rule(seen: Seen) -> None:
    page = seen.page("/forms", range="90d", within="3")
    column = re.findall(r'data-label="per sign-up in 3 days">(.*?)</td>', page, re.DOTALL)
    known = [cell for cell in column if cell and 'class="nothing"' not in cell]
    assert known
    for cell in known:
        assert '<details class="depth"><summary class="behind"' in cell
        assert "<span>within 3 days, by those who have had so long</span>" in cell


def check_pair(
    section: Section, asked: Asked, one: dict[str, Any], other: dict[str, Any]
) -> list[str]:
    """The verdicts of those that can be compared."""
    verdicts = []
    ids = [form["id"] for form in (one, other)]
    funnels = [asked.now(f"/forms/{form}/funnel") for form in ids]
    aged = [asked.now(f"/forms/{form}/funnel", within="3") for form in ids]
    rows = []
    for name, hits, trials in RATES:
        of_age = aged if hits == "convertedSubmissions" else funnels
        counts = [(funnel[hits], funnel[trials]) for funnel in of_age]
        cells = [rate(*pair, f"no {trials}") for pair in counts]
        if not all(trials for _, trials in counts):
            rows.append([name, *cells, "", nothing("nobody to compare")])
            continue
        interval = statistics.of_difference(*counts[0], *counts[1])
        # The verdict opens the difference and its interval.
        rows.append([name, *cells, "", ""])
        verdicts.append("≈" if interval.has_zero else (one if interval.low > 0 else other)["name"])
    rows.append(revenue_row(asked, aged))
    section.check(rows)
    return verdicts


def verdicts_of(page: str) -> list[str]:
    """As the page says them."""
    found = re.findall(
        r'<td class="verdict-cell"><details class="depth"><summary>(.*?)</summary>', page, re.DOTALL
    )
    return [
        "≈" if "within chance" in each else re.sub("<[^>]*>|“|”| is better", "", each).strip()
        for each in found
        if "no verdict" not in each
    ]


def revenue_row(asked: Asked, funnels: list[dict[str, Any]]) -> list[str]:
    each = [
        cents(funnel["netRevenueCents"], funnel["submissions"]) if funnel["submissions"] else None
        for funnel in funnels
    ]
    cells = [
        nothing("no submissions") if amount is None else asked.money(amount) for amount in each
    ]
    # The verdict opens the reason for which there is none.
    return ["Net revenue per submission in 3 days", *cells, "", ""]


FORMS = [f"8f0e0000-0000-4000-8000-{number:012}" for number in range(120)]
WEEK = {"range": "7d", "compare": "previous"}


# One for all tests, which only read.
@pytest.fixture(scope="module")
def many(new_shared_url: NewUrl) -> Iterator[Seen]:
    """120 forms, of which 110 have views: the most in the first."""
    on = str(datetime.now(UTC).date() - timedelta(1))
    with shop_on(new_shared_url()) as (seen, shop, _):
        for number, form_id in enumerate(FORMS):
            status = "draft" if number % 2 else "live"
            shop.form(form_id, name=f"Form {number:03}", status=status, created_at=number)
            if number < 110:
                views = 1000 - number
                shop.daily("all_forms", on, form=form_id, events=1, views=views)
                submissions, gross = 2 * number, 100 * number
                shop.daily(
                    "funnel", on, form=form_id, views=views, submissions=submissions, gross=gross
                )
        yield seen


def names(page: str) -> list[str]:
    rows = sections(page)["All forms"].tables[0]
    lines = ("All forms", "of it from sign-ups before these days")
    return [row[0].removesuffix(" draft") for row in rows if row[0] not in lines]


def test_pages_of_the_list(many: Seen) -> None:
    """No form has an order of these days: they keep the order of their views."""
    every = [f"Form {number:03}" for number in range(120)]
    first = many.page("/forms", **WEEK)
    assert names(first) == every[:50]
    assert "1 to 50 of 120 forms." in first
    assert names(many.page("/forms", **WEEK, page="2")) == every[50:100]
    # Forms without a view come last, newest first as the API has them.
    last = many.page("/forms", **WEEK, page="3")
    assert names(last) == every[100:110] + every[110:][::-1]
    assert "101 to 120 of 120 forms." in last
    assert 'rel="next"' not in last
    address = re.search(r'<a href="([^"]*)" rel="prev"', last)
    assert address
    query = dict(parse_qsl(urlsplit(unescape(address[1])).query))
    assert names(many.page("/forms", **query)) == every[50:100]
    for wrong in ("0", "4", "two", "²", "9" * 5000):
        page = many.page("/forms", **WEEK, page=wrong)
        assert "Choose one from 1 to 3." in page
        assert len(page) < 150_000
        assert names(page) == every[:50]


def test_sorted_over_all_pages(many: Seen) -> None:
    by_revenue = many.page("/forms", **WEEK, clock="submission")
    assert names(by_revenue)[:2] == ["Form 109", "Form 108"]
    assert names(many.page("/forms", **WEEK, sort="forms.-name"))[0] == "Form 119"
    # A form without views has no rate: it comes last either way.
    for sign, first in (("", "Form 000"), ("-", "Form 109")):
        query = WEEK | {"sort": f"forms.{sign}rate"}
        assert names(many.page("/forms", **query))[0] == first
        assert names(many.page("/forms", **query, page="3"))[-1] >= "Form 110"
    assert "cannot be sorted by" in many.page("/forms", sort="forms.colour")


def test_search_and_status(many: Seen) -> None:
    assert names(many.page("/forms", **WEEK, q=" fORM 01 ")) == [
        f"Form {number:03}" for number in range(10, 20)
    ]
    drafts = many.page("/forms", **WEEK, q="form 01", status="draft")
    assert names(drafts) == [f"Form {number:03}" for number in range(11, 20, 2)]
    assert drafts.count('<span class="draft">draft</span>') == 5
    assert "No form of the shop matches this search." in many.page("/forms", q="nothing")
    wrong = many.page("/forms", **WEEK, status="asleep")
    assert "No form has the status" in wrong
    assert "1 to 50 of 120 forms." in wrong


def test_two_forms_that_were_chosen(many: Seen) -> None:
    asked = Asked(many, WEEK)
    one, other = ({"id": FORMS[number], "name": f"Form {number:03}"} for number in (100, 3))
    page = many.page("/forms", **WEEK, one=one["id"], other=other["id"])
    with english(many.browser.client):
        verdicts = check_pair(sections(page)["Two forms side by side"], asked, one, other)
    assert verdicts[:2] == ["≈", "Form 100"]
    assert [each.removesuffix(" few").strip() for each in verdicts_of(page)] == verdicts
    # Where they stand, the figures of what was bought open the rule by which they count.
    assert page.count(AGE) == len(verdicts) - 1
    # The other way round it is the same form that is better.
    page = many.page("/forms", **WEEK, one=other["id"], other=one["id"])
    with english(many.browser.client):
        assert check_pair(sections(page)["Two forms side by side"], asked, other, one) == verdicts
    # One without views has no rates.
    page = many.page("/forms", **WEEK, one=one["id"], other=FORMS[115])
    unseen = {"id": FORMS[115], "name": "Form 115"}
    with english(many.browser.client):
        check_pair(sections(page)["Two forms side by side"], asked, one, unseen)


def test_two_forms_that_cannot_be_compared(many: Seen) -> None:
    for one, other, problem in (
        (FORMS[0], FORMS[0], "These are the same form."),
        (FORMS[0], "8f0e0000-0000-4000-8000-999999999999", "not in the shop&#39;s list"),
        ("x", "", "not in the shop&#39;s list"),
    ):
        page = many.page("/forms", **WEEK, one=one, other=other)
        assert problem in page
        assert "Verdict" not in page


def test_a_shop_without_forms(by_hand: tuple[Seen, ShopBuilder, Any]) -> None:
    seen, _, _ = by_hand
    page = sections(seen.page("/forms"))
    page["All forms"].check([[NO_FORMS]])
    page["Two forms side by side"].check()
    assert "only events know" not in page


NO_FORMS = (
    "The shop has no forms yet. Set up has a line for your pages that finds them; or import them."
)

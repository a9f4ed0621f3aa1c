"""The overview: its table adds up, and what is worth a look. Its figures: `test_figures.py`."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.people import Browser, add_member
from tests.support.shop_builder import ShopBuilder
from tests.web.dashboard.api_figures import shown_days
from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.figure_texts import (
    Asked,
)
from tests.web.dashboard.page_figures import figures
from tests.web.dashboard.page_text import sections
from tests.web.dashboard.written import english
from warehouse.domain.rounding import cents
from web.dashboard import formatting, overview
from web.dashboard.ads import REASONS
from web.dashboard.charts.bars import sparkline
from web.dashboard.table import Card

AVERAGE = "averageOrderValueCents"
GUIDE = Path(__file__).parents[3] / "CONTRIBUTING.md"

QUERIES = (
    {"range": "30d", "compare": "previous"},
    {"range": "90d", "compare": "none"},
)
TODAY = datetime.now(UTC).date()


def test_the_table_adds_up_to_the_card(seen: Seen) -> None:
    """On both clocks, and on the order clock with what comes from earlier sign-ups."""
    for clock in ("order", "submission"):
        for days in ("7d", "30d", "90d"):
            page = figures(seen.page("/", range=days, clock=clock))
            # A figure of fewer days stands in the depth of the one that is shown.
            net = [each for each in page if each.name == "netRevenueCents" and not each.days]
            (card,) = [each.now for each in net if each.card == "Credited to forms"]
            lines = {
                each.row.get("row") or each.row.get("form"): each.now
                for each in net
                if each.table == "forms"
            }
            total, earlier = lines.pop("total"), lines.pop("earlier", None)
            assert total == card == sum(lines.values())
            assert (earlier is None) == (clock == "submission")
    assert "of it from sign-ups before these days" in seen.page("/", range="7d")


def test_the_best_earner_stands_first(seen: Seen) -> None:
    earned = of_forms(seen.page("/", range="90d"), "netRevenueCents")
    assert earned == sorted(earned, reverse=True)
    assert len(earned) > 1


def of_forms(page: str, figure: str) -> list[float]:
    """A figure of each form in the table."""
    return [
        each.now
        for each in figures(page)
        if each.table == "forms" and each.name == figure and "form" in each.row and not each.days
    ]


def test_what_is_worth_a_look_by_rules(seen: Seen) -> None:
    asked = Asked(seen, QUERIES[0])
    page = sections(seen.page("/", **QUERIES[0]))
    with english(seen.browser.client):
        notes = page.get("Worth a look")
        texts = " ".join(notes.others) if notes else ""
        # The advice has a test of its own.
        texts = texts.partition(" earns most per view")[0]
        assert texts.startswith(" ".join([*ad_notes(asked), *code_notes(asked)]))


def ad_notes(asked: Asked) -> list[str]:
    ads = asked.now("/ads/spend")
    texts = [
        f"The ad spend of {entry['provider']} is incomplete. {REASONS[entry['reason']]} Ads"
        for entry in ads["unavailableProviders"]
    ]
    for provider, coverage in sorted(ads["attributionCoverage"].items()):
        if coverage is not None and coverage < 80:
            texts.append(
                f"Only {formatting.percent(coverage)} of submissions from {provider} name a known "
                "campaign. Its return looks lower than it is. Ads"
            )
    return texts


def code_notes(asked: Asked) -> list[str]:
    codes = [
        row for row in asked.now("/discounts/performance") if 0 < row["issued"] < row["orders"]
    ]
    texts = [
        f"{row['code'] or row['discountId']} is used by others: orders that used it {row['orders']} , "
        f"submissions that got it {row['issued']} . Discounts"
        for row in codes[:3]
    ]
    if len(codes) > 3:
        texts.append(f"Further codes that others use: {len(codes) - 3}. Discounts")
    return texts


def test_sparklines(seen: Seen) -> None:
    page = seen.page("/", **QUERIES[0], numbers="forms")
    drawn = re.findall(r'class="sparkline".*?points="([^"]*)"', page)
    known = {row["id"] for row in seen.api("/forms", limit="200")}
    submissions = {
        each.row["form"]: each.now
        for each in figures(page)
        if (each.table, each.name) == ("forms", "submissions") and "form" in each.row
    }
    expected: list[str] = []
    for form, submitted in submissions.items():
        # One that only events know has no trends of its own.
        days = seen.api(f"/forms/{form}/trends", range="30d") if form in known else []
        if submitted and form not in known:
            drawn.pop(len(expected))
        if any(day["submissions"] for day in days):
            expected.append(sparkline([day["submissions"] for day in days]))
    assert drawn == expected


def test_sorted_by_the_address(seen: Seen) -> None:
    for column, figure in (("views", "views"), ("revenue", "netRevenueCents")):
        for sign, is_down in (("", False), ("-", True)):
            page = seen.page("/", **QUERIES[0], sort=f"forms.{sign}{column}")
            values = of_forms(page, figure)
            assert values == sorted(values, reverse=is_down), column
    assert "cannot be sorted by" in seen.page("/", sort="forms.colour")


FORM = "8f0e0000-0000-4000-8000-000000000001"


def days_ago(days: int) -> str:
    return str(TODAY - timedelta(days))


def test_return_of_ads(by_hand: tuple[Seen, ShopBuilder, Any]) -> None:
    """In each currency of spend; unknown without an exchange rate or without spend."""
    seen, shop, _ = by_hand
    query = {"range": "7d", "compare": "previous"}
    for currency, spend in (("USD", "40.00"), ("EUR", "20.00"), ("GBP", "-5.00"), ("CHF", "1.00")):
        provider = {"USD": "meta", "EUR": "google", "GBP": "tiktok", "CHF": "bing"}[currency]
        shop.spend(days_ago(2), provider, "c", spend, currency=currency)
        if currency == "USD":
            shop.spend(days_ago(30), provider, "c", "1.00", currency=currency)
            shop.spend(days_ago(10), provider, "c", "50.00", currency=currency)
        source = {"source": provider, "campaign": "c"}
        shop.daily("utm_order", days_ago(2), type="visitor", utm=source, orders=1, gross=10_000)
    shop.rate(days_ago(30), "EUR", "USD", "1.25")
    page = figures(seen.page("/", **query))
    found = [(each.name, each.now, each.text) for each in page if each.card == "Return on ads"]
    unknown = "— (revenue in USD is not converted)"
    assert [(name, now, text.replace("\N{NO-BREAK SPACE}", " ")) for name, now, text in found] == [
        ("roas", 2.5, "2.50 ×"),
        ("roas", 0.0, unknown),
        ("roas", 4.0, "4.00 ×"),
        ("roas", 0.0, "— (no spend in these days)"),
        ("spend", 40.0, "$40.00"),
        ("spend", 1.0, "CHF1.00"),
        ("spend", 20.0, "€20.00"),
        ("spend", -5.0, "-£5.00"),
    ]


def test_a_shop_without_figures(by_hand: tuple[Seen, ShopBuilder, Any]) -> None:
    seen, _, engine = by_hand
    page = sections(seen.page("/"))
    assert list(page) == ["", "Overview", "No figures in these days", "Keys"]
    texts = " ".join(page["No figures in these days"].others)
    assert "Look at the last 90 days" in texts
    assert "See all forms" in texts
    add_member(engine, ShopBuilder(engine, "new.example", rolled_up=False), "new@example.com")
    new = Browser(seen.browser.client.application.test_client())
    new.sign_in("new@example.com")
    text = new.get("/", headers={"Accept": "text/html"}).text
    assert "No figures yet" in text
    assert '<a href="/settings/connections">' in text
    assert '<a href="/docs">' in text


def test_a_form_that_only_events_know_is_a_figure(by_hand: tuple[Seen, ShopBuilder, Any]) -> None:
    seen, shop, _ = by_hand
    shop.daily("all_forms", days_ago(1), form=FORM, events=1)
    assert "No form was viewed in these days." in seen.page("/")


def test_views_are_compared_before_the_first_order(by_hand: tuple[Seen, ShopBuilder, Any]) -> None:
    seen, shop, _ = by_hand
    shop.form(FORM)
    for ago in (2, 9, 60):
        shop.daily("all_forms", days_ago(ago), form=FORM, events=1)
        shop.daily("funnel", days_ago(ago), form=FORM, views=100, submissions=50)
    shop.daily("attribution", days_ago(2), type="visitor", orders=1, gross=1)
    found = {
        each.name: each.change
        for each in figures(seen.page("/", range="7d"))
        if each.row.get("form")
    }
    assert found["submissionRate"] == "within-chance"
    assert found["netRevenueCents"] == "no-data"


def test_the_card_of_the_guide(seen: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line that CONTRIBUTING.md adds to the cards of this page is all that its card needs."""
    line = re.search(r"`(card\(view,\s_of_shop.*?\), revenue\))`", GUIDE.read_text(), re.S)
    assert line
    cards = overview._cards

    def with_one_more(view: Any, revenue: Any, forms: Any) -> list[Card]:
        names = {**vars(overview), "view": view, "revenue": revenue}
        return [*cards(view, revenue, forms), eval(line[1], names)]

    monkeypatch.setattr(overview, "_cards", with_one_more)
    query = {"range": "30-days"}
    made = [each for each in figures(seen.page("/", **query)) if each.name == AVERAGE]
    rows = seen.api("/attribution", range=shown_days(seen, query))
    gross, orders = (sum(row[name] for row in rows) for name in ("grossRevenueCents", "orders"))
    assert [each.now for each in made] == [cents(gross, orders)]
    assert made[0].change

"""Every number of the overview is the API's; and what is worth a look."""

import re
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from typing import Any

import pytest

from tests.support.people import Browser, add_member
from tests.support.shop_builder import ShopBuilder
from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.figure_texts import (
    Asked,
    Rows,
    count,
    day_rows,
    form_row,
    joined,
    now_and_before,
    rate,
    total,
)
from tests.web.dashboard.page_text import sections
from tests.web.dashboard.written import cell, english, money, nothing
from tests.web.dashboard.written import former as was
from warehouse.domain.currencies import minor_units
from warehouse.domain.rounding import percent
from web.dashboard import formatting
from web.dashboard.ads import REASONS
from web.dashboard.charts.columns import line

QUERIES = (
    {"range": "30d", "compare": "previous"},
    {"range": "90d", "compare": "none"},
)
TODAY = datetime.now(UTC).date()


@pytest.mark.parametrize("query", QUERIES)
def test_every_number(seen: Seen, query: dict[str, str]) -> None:
    asked = Asked(seen, query)
    page = sections(seen.page("/", **query))
    with english(seen.browser.client):
        check_page(asked, page)


def check_page(asked: Asked, page: Any) -> None:
    joined(page["Overview"]).check(cards=cards(asked))
    page["Forms"].check(forms(asked))
    page["Top campaigns"].check(top_campaigns(asked))
    page["Net revenue by day"].check(day_rows(asked))
    notes = page.get("Worth a look")
    texts = " ".join(notes.others) if notes else ""
    assert texts == " ".join([*ad_notes(asked), *code_notes(asked)])


def cards(asked: Asked) -> dict[str, list[str]]:
    revenue, former_revenue = asked.now("/attribution"), asked.before("/attribution")
    utm = {"path": "/revenue/by-utm", "dimension": "campaign"}
    submissions = asked.now(**utm)["rows"]
    before = asked.before(**utm)
    former = before and before["rows"]
    converted = total(submissions, "convertedSubmissions") or 0
    credited, former_credited = credited_of(revenue), former_revenue and credited_of(former_revenue)
    shares = [share_of(rows) for rows in (revenue, former_revenue) if rows]
    share = f"{formatting.percent(shares[0])} of net revenue"
    if len(shares) > 1:
        share += f", before {formatting.percent(shares[1])}"
    conversion = rate(
        converted,
        total(submissions, "submissionCount") or 0,
        former
        and (total(former, "convertedSubmissions") or 0, total(former, "submissionCount") or 0),
        interval=True,
    )
    net, orders = "netRevenueCents", "orders"
    return {
        "Net revenue": [
            f"{asked.money(total(revenue, net) or 0, total(former_revenue, net))} orders in these days"
        ],
        "Credited to forms": [
            f"{asked.money(total(credited, net) or 0, total(former_credited, net))} {share}"
        ],
        "Orders": [
            f"{count(total(revenue, orders) or 0, total(former_revenue, orders))} orders in these days"
        ],
        "Submissions": [
            count(total(submissions, "submissionCount") or 0, total(former, "submissionCount"))
            + " submissions in these days"
        ],
        "Conversion": [f"{conversion} submissions in these days that bought, to date"],
        "Ad spend": [ad_card(asked)],
    }


def credited_of(rows: Rows) -> Rows:
    return rows[:3]


def share_of(rows: Rows) -> float:
    return percent(
        total(credited_of(rows), "netRevenueCents") or 0, total(rows, "netRevenueCents") or 0
    )


def ad_card(asked: Asked) -> str:
    spent, before = spend_of(asked.now("/ads/spend")), asked.before("/ads/spend")
    former = spend_of(before) if before else {}
    texts = []
    for currency in sorted(spent, key=lambda name: (name != asked.currency, name)):
        (spend, back), then = spent[currency], former.get(currency, (0, None))
        if not spend and not then[0]:
            continue
        known = spend, then[0] if before else None
        texts.append(cell(money(currency)(spend), was(*known, money(currency)), "return"))
        if back is None:
            texts.append(nothing(f"no spend, or revenue in {asked.currency} is not converted"))
            continue
        texts.append(formatting.times(back).replace("\N{NO-BREAK SPACE}", " "))
        if then[1] is not None:
            texts[-1] += f", before {formatting.times(then[1])}".replace("\N{NO-BREAK SPACE}", " ")
    return " ".join(texts) or nothing("no ad spend in these days")


def spend_of(data: Any) -> dict[str, tuple[int, float | None]]:
    """By currency: spend in minor units, and what came back of each unit."""
    found = {}
    rows = [row for row in data["rows"] if row["provider"]]
    for currency in {row["currency"] for row in rows}:
        own, units = [row for row in rows if row["currency"] == currency], minor_units(currency)
        spend = sum((Decimal(str(row["spend"])) for row in own), Decimal(0)) * units
        back: list[int | None] = [
            row["attributedNetRevenueCents"]
            if currency == row["revenueCurrency"] or not row["attributedNetRevenueCents"]
            else round(row["roas"] * row["spend"] * units) or None
            for row in own
        ]
        whole = None if None in back or spend <= 0 else float(sum(filter(None, back)) / spend)
        found[currency] = int(spend.quantize(Decimal(1), ROUND_HALF_UP)), whole
    return found


def forms(asked: Asked) -> list[list[str]]:
    known = [row for row in asked.now("/forms/funnel") if row["formName"] is not None]
    rows = [form_row(asked, row["formId"], row["formName"]) for row in known[:8]]
    return rows or [["No form was viewed in these days."]]


def top_campaigns(asked: Asked) -> list[list[str]]:
    rows = []
    for row, then in asked.campaigns():
        pair = partial(now_and_before, row, then)
        if row["attributedOrders"]:
            rows.append(
                [
                    row["utmSource"] or "no source",
                    row["utmCampaign"] or "no campaign",
                    count(*pair("submissionCount")),
                    count(*pair("attributedOrders")),
                    asked.money(*pair("netRevenueCents")),
                ]
            )
    return rows[:6] or [["No order in these days is credited to a submission."]]


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
                "campaign. Its return is told too low. Ads"
            )
    return texts


def code_notes(asked: Asked) -> list[str]:
    codes = [
        row for row in asked.now("/discounts/performance") if 0 < row["issued"] < row["orders"]
    ]
    texts = [
        f"{row['code'] or row['discountId']} is used by others: orders that used it {row['orders']}, "
        f"submissions that got it {row['issued']}. Discounts"
        for row in codes[:3]
    ]
    if len(codes) > 3:
        texts.append(f"Further codes that others use: {len(codes) - 3}. Discounts")
    return texts


def test_sparklines(seen: Seen) -> None:
    asked = Asked(seen, QUERIES[0])
    drawn = re.findall(r'points="([^"]*)"', seen.page("/", **QUERIES[0]))
    expected = []
    for row in asked.now("/forms/funnel"):
        if row["formName"] is not None:
            days = asked.now(f"/forms/{row['formId']}/trends")
            if any(day["submissions"] for day in days):
                expected.append(line([day["submissions"] for day in days]))
    assert drawn == expected


def test_sorted_by_the_address(seen: Seen) -> None:
    asked = Asked(seen, QUERIES[0])
    for column, place, figure in (("views", 1, "views"), ("revenue", 4, "netRevenueCents")):
        for sign, is_down in (("", False), ("-", True)):
            page = seen.page("/", **QUERIES[0], sort=f"forms.{sign}{column}")
            names = {row["formName"]: row["formId"] for row in asked.now("/forms/funnel")}
            rows = sections(page)["Forms"].tables[0]
            values = [asked.now(f"/forms/{names[row[0]]}/funnel")[figure] for row in rows]
            assert values == sorted(values, reverse=is_down), (column, place)
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
            shop.spend(days_ago(10), provider, "c", "50.00", currency=currency)
        source = {"source": provider, "campaign": "c"}
        shop.daily("utm_order", days_ago(2), type="visitor", utm=source, orders=1, gross=10_000)
    shop.rate(days_ago(30), "EUR", "USD", "1.25")
    asked = Asked(seen, query)
    with english(seen.browser.client):
        text = ad_card(asked)
        assert joined(sections(seen.page("/", **query))["Overview"]).cards["Ad spend"] == [text]
    assert text == (
        "$40.00 before $50.00, -20% return 2.50 ×, before 0.00 × "
        "CHF1.00 none before return — (no spend, or revenue in USD is not converted) "
        "€20.00 none before return 4.00 × "
        "-£5.00 none before return — (no spend, or revenue in USD is not converted)"
    )


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
    shop.daily("events", days_ago(1), form=FORM, events=1)
    page = sections(seen.page("/"))
    assert page["Forms"].tables == [[["No form was viewed in these days."]]]

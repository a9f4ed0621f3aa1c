"""Every number of the page of revenue is the API's, and its parts add up to the shop."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.shop_builder import ShopBuilder
from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.figure_texts import (
    Asked,
    Rows,
    count,
    day_rows,
    total,
)
from tests.web.dashboard.page_figures import figures
from tests.web.dashboard.page_text import AGED, Section, sections
from tests.web.dashboard.written import english, nothing, with_digit
from warehouse.tables import edition
from web.dashboard import formatting

# Figures beside former ones: `test_figures.py`.
OPEN = {"compare": "none", "numbers": "parts,days,campaigns"}
QUERIES = ({"range": "30d", **OPEN}, {"range": "90d", **OPEN})
LEVELS = ("utmSource", "utmCampaign", "utmMedium", "utmTerm", "utmContent")
NAMES = ("by a code", "same customer", "same browser", "not credited")
WEEK = {"range": "7d", "compare": "previous"}


@pytest.mark.parametrize("query", QUERIES)
def test_every_number(seen: Seen, query: dict[str, str]) -> None:
    asked = Asked(seen, query)
    # `test_what_a_branch_cost` has the costs of branches.
    costs = r'<span data-figure="(?:spend|roas)".*?</span>(?=</span>| \+ )(?: \+ )?'
    page = sections(re.sub(costs, "", seen.page("/revenue", **query)))
    with english(seen.browser.client):
        page["Where the revenue came from"].check(parts(asked), others=bar_texts(asked))
        page["Revenue by day"].check(day_rows(asked))
        found = page["By UTM"]
        # Bought, of a branch, is at equal age.
        texts = [text for text in with_digit(found.others) if not text.endswith("%")]
        assert texts == with_digit(tree(asked))
        Section(found.tables).check(campaigns(asked))


def parts(asked: Asked) -> list[list[str]]:
    rows = asked.now("/attribution")
    cells = [
        [
            "",
            asked.money(row["netRevenueCents"], exact=True),
            formatting.percent(row["shareOfRevenue"]),
            count(row["orders"]),
            asked.money(row["grossRevenueCents"], exact=True),
            asked.money(row["totalRefundedCents"], exact=True),
        ]
        for row in rows
    ]
    sums = {
        name: total(rows, name) or 0
        for name in ("netRevenueCents", "orders", "grossRevenueCents", "totalRefundedCents")
    }
    cells.append(
        [
            "All orders",
            asked.money(sums["netRevenueCents"], exact=True),
            "",
            count(sums["orders"]),
            asked.money(sums["grossRevenueCents"], exact=True),
            asked.money(sums["totalRefundedCents"], exact=True),
        ]
    )
    return cells


def bar_texts(asked: Asked) -> list[str]:
    """The texts in the bar. Names and rules are in what opens."""
    rows, texts = asked.now("/attribution"), []
    net = total(rows, "netRevenueCents") or 0
    for row, name in zip(rows, NAMES, strict=True):
        share = 100 * row["netRevenueCents"] / net
        if share:
            texts.append(f"{name}: {formatting.percent(round(share, 3))}")
        if share >= 12:
            texts.append(formatting.percent(round(share, 3)))
    return texts


def tree(asked: Asked) -> list[str]:
    """The texts of the tree, from the top down."""
    hierarchy = {"path": "/revenue/by-utm", "dimension": "hierarchy"}
    rows = asked.now(**hierarchy)["rows"]
    signed = asked.now("/revenue/by-utm", dimension="campaign")["rows"]
    texts = branches(asked, rows, 0, signed)
    sums = total(rows, "orders") or 0, total(rows, "netRevenueCents") or 0
    sign_ups = formatting.count(total(signed, "submissionCount") or 0)
    return [*texts, sign_ups, formatting.count(sums[0]), asked.money(sums[1])]


def branches(asked: Asked, rows: Rows, level: int, signed: Rows) -> list[str]:
    """`signed` are the campaigns below it; further down there are no sign-ups."""
    if level == len(LEVELS) or (
        level and not any(row[key] for row in rows for key in LEVELS[level:])
    ):
        return []
    key, texts = LEVELS[level], []

    def net(value: str) -> int:
        return sum(row["netRevenueCents"] for row in rows if row[key] == value)

    for value in sorted({row[key] for row in rows}, key=lambda value: (-net(value), value)):
        own = [row for row in rows if row[key] == value]
        texts += [value or f"no {key.removeprefix('utm').lower()}"]
        below = [row for row in signed if level < 2 and row[key] == value]
        if below:
            texts.append(formatting.count(total(below, "submissionCount") or 0))
        texts += [formatting.count(total(own, "orders") or 0), asked.money(net(value))]
        texts += branches(asked, own, level + 1, below)
    return texts


def campaigns(asked: Asked) -> list[list[str]]:
    rows = []
    for row in asked.now("/revenue/by-utm", dimension="campaign")["rows"]:
        rows.append(
            [
                row["utmSource"] or "no source",
                row["utmCampaign"] or "no campaign",
                count(row["submissionCount"]),
                AGED,
                count(row["attributedOrders"]),
                asked.money(row["netRevenueCents"], exact=True),
            ]
        )
    return rows


def test_the_bar_is_the_whole(seen: Seen) -> None:
    """Its segments follow each other from 0 to 100 per cent, as wide as their shares."""
    asked = Asked(seen, QUERIES[0])
    page = seen.page("/revenue", **QUERIES[0])
    bar = page.partition('<svg class="stack"')[2].partition("</svg>")[0]
    drawn = [
        (int(part), float(x), float(width))
        for part, x, width in re.findall(r'class="part-(\d)" x="([\d.]+)%" width="([\d.]+)%"', bar)
    ]
    rows = asked.now("/attribution")
    net, end = total(rows, "netRevenueCents") or 0, 0.0
    expected: list[Any] = []
    for part, row in enumerate(rows):
        width = 100 * row["netRevenueCents"] / net
        if width:
            expected.append((part, pytest.approx(end, abs=1e-3), pytest.approx(width, abs=1e-3)))
        end += width
    assert drawn == expected
    assert end == pytest.approx(100)


def on(days: int) -> str:
    return str(datetime.now(UTC).date() - timedelta(days))


def order(shop: ShopBuilder, gross: int, *values: str, ago: int = 1) -> None:
    names = ("source", "campaign", "medium", "term", "content")
    utm = {name: value for name, value in zip(names, values, strict=False) if value}
    shop.daily("utm_order", on(ago), type="visitor", utm=utm, orders=1, gross=gross)


def begun(shop: ShopBuilder) -> None:
    """The shop has data of days that are long over."""
    shop.daily("all_forms", on(60), form="8f0e0000-0000-4000-8000-000000000001", events=1)
    shop.daily("attribution", on(60), type="visitor", orders=1, gross=1)


def texts_of(seen: Seen, **query: str) -> str:
    return " ".join(sections(seen.page("/revenue", **query))["By UTM"].others)


def test_a_tree_that_opens(by_hand: tuple[Seen, ShopBuilder, Any]) -> None:
    """Level by level; a level that nobody filled in is not one, unless there is more below it."""
    seen, shop, _ = by_hand
    order(shop, 500, "mail", "spring", "email", "t", "c")
    order(shop, 300, "mail", "", "email")
    order(shop, 200, "blog")
    order(shop, 100)
    order(shop, 1000, "blog", ago=8)
    begun(shop)
    page = seen.page("/revenue", **WEEK)
    shown = " ".join(sections(page)["By UTM"].others).partition("Net revenue ")[2]
    # An order of 56 days is no measure of what changed: there is no arrow.
    assert re.sub(r"0 — \(no one yet\) |[—≈] ", "", shown) == (
        "mail 2 orders, $8.00 spring 1 order, $5.00 email 1 order, $5.00 t 1 order, $5.00 "
        "c 1 order, $5.00 no campaign 1 order, $3.00 email 1 order, $3.00 "
        "blog 1 order, $2.00 no source 1 order, $1.00 All orders 4 orders, $11.00"
    )
    assert "before $10.00" in page


def test_what_a_branch_cost(by_hand: tuple[Seen, ShopBuilder, Any]) -> None:
    """An ad campaign stands where all of its orders are: with a campaign, with the source of two of them, and
    with the shop alone where it has none, or those of several sources."""
    seen, shop, _ = by_hand
    order(shop, 900, "facebook", "Name of spring")
    order(shop, 400, "facebook", "autumn")
    order(shop, 300, "facebook", "Name of autumn")
    order(shop, 200, "facebook", "both")
    order(shop, 100, "ig", "both")
    shop.spend(on(1), "meta", "spring", "3")
    shop.spend(on(1), "meta", "autumn", "2")
    shop.spend(on(1), "meta", "both", "1.50")
    shop.spend(on(1), "meta", "none", "0.50")
    shop.spend(on(1), "tiktok", "none", "7", currency="EUR")
    page = seen.page("/revenue", **WEEK)
    found = [(each.name, each.now) for each in figures(page) if each.name in ("spend", "roas")]
    of_source = [("spend", 5), ("roas", 3.2)]
    of_shop = [("spend", 7), ("spend", 7)]
    assert found == [*of_source, ("spend", 3), ("roas", 3), *of_shop]
    assert "$7.00</span> + <span" in page


def test_a_tree_of_very_many(by_hand: tuple[Seen, ShopBuilder, Any]) -> None:
    """Branches with most revenue are shown; the others are summed where they grow, so that all adds up."""
    seen, shop, _ = by_hand
    for number in range(400):
        order(shop, 100 + number, "mail" if number % 2 else "blog", f"c{number}")
    page = seen.page("/revenue", range="7d", compare="none", numbers="campaigns")
    text = " ".join(sections(page)["By UTM"].others)
    shown = sum(100 + number for number in range(252, 400))
    assert "c252 " in text
    assert "c251 " not in text
    assert text.count("126 more; the CSV has all") == 2
    rest = [
        100 * int(a) + int(b)
        for a, b in re.findall(r"126 more; the CSV has all 126 \$(\d+)\.(\d\d)", text)
    ]
    assert sum(rest) + shown == sum(100 + number for number in range(400))
    assert len(page) < 200_000
    # Campaigns are cut as well, in the order of the address.
    assert "The first 50 of 400 campaigns" in page
    sorted_page = seen.page("/revenue", **WEEK, sort="campaigns.net", numbers="campaigns")
    rows = sections(sorted_page)["By UTM"].tables[0]
    assert [row[1] for row in rows] == [f"c{number}" for number in range(50)]


def test_the_window_of_the_figures(by_hand: tuple[Seen, ShopBuilder, Any]) -> None:
    """It is the one that they were computed with, whatever the setting says now."""
    seen, _, engine = by_hand
    with engine.begin() as connection:
        connection.execute(edition.update().values(window_days=7))
    assert "in the 7 days before it" in seen.page("/revenue")
    with engine.begin() as connection:
        connection.execute(edition.update().values(window_days=1))
    assert "in the 24 hours before it" in seen.page("/revenue")


def test_all_was_refunded(by_hand: tuple[Seen, ShopBuilder, Any]) -> None:
    seen, shop, _ = by_hand
    shop.daily("attribution", on(1), type="visitor", orders=1, gross=500, refunded=500)
    found = sections(seen.page("/revenue", range="7d", compare="none", numbers="parts"))[
        "Where the revenue came from"
    ]
    assert found.tables[0][2][1:] == ["$0.00", nothing("no net revenue"), "1", "$5.00", "$5.00"]


def test_a_shop_without_orders(by_hand: tuple[Seen, ShopBuilder, Any]) -> None:
    seen, _, _ = by_hand
    page = sections(seen.page("/revenue"))
    assert page["By UTM"].others[-1] == "No order in these days."
    opened = sections(seen.page("/revenue", numbers="campaigns"))
    assert opened["By UTM"].tables == [[["No submission and no credited order in these days."]]]

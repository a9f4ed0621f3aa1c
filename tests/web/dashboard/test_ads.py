"""Every number of `/ads` is the API's, or a sum of the API's in one currency."""

from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from itertools import groupby
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.people import Browser, add_member
from tests.support.shop_builder import ShopBuilder
from tests.web.conftest import Ask
from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.page_text import Row, sections
from tests.web.dashboard.written import (
    cell,
    english,
    former,
    money,
    nothing,
    points,
    shop_of,
    signed,
    with_digit,
)
from warehouse.domain.currencies import minor_units
from web.dashboard import formatting
from web.dashboard.ads import REASONS

Data = dict[str, Any]
Rows = list[Data]
HTML = {"Accept": "text/html"}
NO_SPEND = nothing("no spend in these days")
NAMES = ("provider", "campaignId", "currency")


def check(page: str, now: Data, before: Data | None, currency: str, timezone: str = "UTC") -> None:
    """State the whole page, from the answers for its days and for those before."""
    found, home = sections(page), currency
    rows = campaigns(now)
    earlier = None if before is None else campaigns(before)
    if rows:
        found["Ads"].check(cards=cards(rows, earlier, home))
        providers = grouped(rows, ("currency", "provider"), home)
        sums = sum_rows(now, earlier, home)
        found["Providers"].check(
            [
                [
                    group[0]["provider"],
                    *result_cells(group, earlier, ("currency", "provider"), home),
                ]
                for group in providers
            ]
            + sums,
            others=with_digit(
                [text for group in providers for text in bar_texts(group, home, False)]
            ),
        )
        each = grouped(rows, NAMES, home)
        drawn = [
            row
            for _, members in groupby(each, key=lambda group: group[0]["currency"])
            for row in list(members)[:8]
        ]
        # The shop's currency first, then by spend.
        by_spend = sorted(
            each,
            key=lambda group: (
                group[0]["spend"] != 0,
                group[0]["currency"] == home,
                group[0]["currency"],
                group[0]["spend"],
            ),
            reverse=True,
        )
        texts = [text for group in drawn for text in bar_texts(group, home, True)]
        if len(rows) > 8:
            many = len({row["currency"] for row in rows}) > 1
            texts.append(
                f"Drawn: the 8 campaigns with most spend{' in each currency' if many else ''}."
            )
        if len(rows) > 100:
            texts.append(f"The first 100 of {formatting.count(len(rows))} rows; the CSV has all.")
        found["Campaigns"].check(
            [
                [
                    group[0]["provider"],
                    group[0]["campaignName"] or group[0]["campaignId"],
                    *result_cells(group, earlier, NAMES, home),
                ]
                for group in by_spend[:100]
            ]
            + sums,
            others=with_digit(texts),
        )
    else:
        found["Ads"].check()
        assert "No campaigns in these days" in found
    check_coverage(found, now, before)
    pulls = [
        f": {REASONS[entry['reason']]} {pulled(entry['lastSyncedAt'], timezone)}"
        for entry in now["unavailableProviders"]
    ]
    if pulls:
        found["Incomplete"].check(others=with_digit(pulls))
    else:
        assert "Incomplete" not in found


def pulled(text: str | None, timezone: str) -> str:
    if text is None:
        return "No pull of its spend is known."
    local = datetime.fromisoformat(text).astimezone(ZoneInfo(timezone))
    return " ".join(f"Last pulled: {formatting.instant(local)}.".split())


def check_coverage(found: dict[str, Any], now: Data, before: Data | None) -> None:
    if not now["attributionCoverage"]:
        assert "Coverage" not in found
        return
    texts = []
    for provider, value in now["attributionCoverage"].items():
        texts.append(provider)
        if value is None:
            continue
        texts.append(formatting.percent(value))
        old = before["attributionCoverage"].get(provider) if before else None
        if old is not None:
            texts.append(f"{formatting.percent(old)}, {points(value - old)}")
    found["Coverage"].check(
        others=with_digit(
            [
                *texts,
                "The share of a provider’s submissions that name one of its campaigns. The others, and "
                "their orders, are set against no spend: below 80 %, the provider’s return is too low on "
                "this page.",
                "Submissions of these days. The line in each bar marks 80 %.",
            ]
        )
    )


def campaigns(data: Data) -> Rows:
    return [row for row in data["rows"] if row["provider"]]


def grouped(rows: Rows, names: tuple[str, ...], home: str) -> list[Rows]:
    """Rows with the same values, in the order of the charts: the shop's currency first, most spend first."""
    groups: dict[tuple[str, ...], Rows] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return sorted(
        groups.values(),
        key=lambda group: (
            group[0]["currency"] != home,
            group[0]["currency"],
            -spend_of(group),
        ),
    )


def total(rows: Rows, name: str) -> Any:
    return sum(row[name] for row in rows)


def minor(rows: Rows) -> int:
    return int(half_up(spend_of(rows) * minor_units(rows[0]["currency"]), "1"))


def spend_of(rows: Rows) -> Decimal:
    return sum((Decimal(str(row["spend"])) for row in rows), Decimal(0))


def half_up(value: Decimal, step: str) -> Decimal:
    return value.quantize(Decimal(step), ROUND_HALF_UP)


def return_of(rows: Rows) -> float | None:
    """The return of rows in one currency, by the API's returns: None where one of them is missing."""
    spend = float(spend_of(rows))
    if spend <= 0:
        return None
    if rows[0]["currency"] == rows[0]["revenueCurrency"]:
        units = minor_units(rows[0]["currency"])
        return float(total(rows, "attributedNetRevenueCents") / (spend * units))
    if any(row["attributedNetRevenueCents"] and not row["roas"] for row in rows):
        return None
    return float(sum(row["roas"] * row["spend"] for row in rows) / spend)


def same_before(rows: Rows, earlier: Rows | None, names: tuple[str, ...]) -> Rows | None:
    if earlier is None:
        return None
    return [row for row in earlier if all(row[name] == rows[0][name] for name in names)]


def return_texts(rows: Rows, old: Rows | None) -> list[str]:
    value = return_of(rows)
    if value is None:
        spent = total(rows, "spend") > 0
        home = rows[0]["revenueCurrency"]
        return [nothing(f"revenue in {home} is not converted") if spent else NO_SPEND]
    value = float(round(value, 4))
    texts = [formatting.times(value)]
    value_before = round(return_of(old) or 0, 4) if old else 0
    if value_before:
        change = round(100 * (value - value_before) / value_before, 2)
        texts += ["before", f"{formatting.times(value_before)}, {signed(change)}"]
    return [" ".join(text.split()) for text in texts]


def result_cells(rows: Rows, earlier: Rows | None, names: tuple[str, ...], home: str) -> list[str]:
    currency, old = rows[0]["currency"], same_before(rows, earlier, names)
    net = total(rows, "attributedNetRevenueCents")
    spend_before = None if old is None else minor(old) if old else 0
    net_before = None if old is None else total(old, "attributedNetRevenueCents")

    def cost(count: int, noun: str) -> str:
        spend = spend_of(rows)
        if spend <= 0:
            return NO_SPEND
        if not count:
            return nothing(f"no {noun}")
        return formatting.amount(float(half_up(spend / count, ".01")), currency)

    def submissions_and_orders(name: str, noun: str) -> list[str]:
        count = total(rows, name)
        return [formatting.count(count), cost(count, noun)]

    spend = money(currency, exact=True)(minor(rows)) if total(rows, "spend") else NO_SPEND
    return [
        cell(spend, former(minor(rows), spend_before, money(currency))),
        *submissions_and_orders("attributedSubmissions", "submissions"),
        *submissions_and_orders("attributedOrders", "orders"),
        cell(money(home, exact=True)(net), former(net, net_before, money(home))),
        cell(return_texts(rows, old)),
    ]


def sum_rows(now: Data, earlier: Rows | None, home: str) -> list[Row]:
    rows = campaigns(now)
    exact = money(home, exact=True)
    lines = [
        [
            f"All with spend in {group[0]['currency']}",
            *result_cells(group, earlier, ("currency",), home),
        ]
        for group in grouped(rows, ("currency",), home)
    ]
    lines += [
        [
            "Orders from no known campaign",
            formatting.count(row["attributedOrders"]),
            "",
            exact(row["attributedNetRevenueCents"]),
            "",
        ]
        for row in now["rows"]
        if not row["provider"]
    ]
    orders, net = (
        total(now["rows"], name) for name in ("attributedOrders", "attributedNetRevenueCents")
    )
    return [*lines, ["All orders of the shop", formatting.count(orders), "", exact(net), ""]]


def cards(rows: Rows, earlier: Rows | None, home: str) -> dict[str, list[str]]:
    spend, returns = [], []
    for group in grouped(rows, ("currency",), home):
        currency, old = group[0]["currency"], same_before(group, earlier, ("currency",))
        before = None if old is None else minor(old) if old else 0
        some = bool(total(group, "spend"))
        shown = [money(currency)(minor(group))] if some else ["—", "(no spend in these days)"]
        spend += [*shown, *former(minor(group), before, money(currency))]
        [first, *rest] = return_texts(group, old)
        returns += [*first.replace(" (", "\n(").split("\n"), *rest]
        returns.append(f"net revenue per {currency} of spend")

    def card(name: str, write: Any) -> list[str]:
        value, old = total(rows, name), None if earlier is None else total(earlier, name)
        return [write(value), *former(value, old, write), "orders of these days"]

    return {
        "Spend": [*spend, "of these days, by the platforms’ date"],
        "Net revenue credited": card("attributedNetRevenueCents", money(home)),
        "Orders credited": card("attributedOrders", formatting.count),
        "Return": returns,
    }


def bar_texts(rows: Rows, home: str, by_campaign: bool) -> list[str]:
    """The texts beside the two bars of a provider or a campaign."""
    row, value = rows[0], return_of(rows)
    names = [row["provider"]]
    if by_campaign:
        names.append(row["campaignName"] or row["campaignId"])
    spent = [f"{money(row['currency'])(minor(rows))} spent"] if total(rows, "spend") else []
    credited = f"{money(home)(total(rows, 'attributedNetRevenueCents'))} credited"
    if value is not None:
        credited += f", {formatting.times(value)}"
    return [*names, *spent, " ".join(credited.split())]


@pytest.mark.parametrize("days", ["30d", "90d"])
def test_a_random_shop(seen: Seen, days: str) -> None:
    currency, timezone, earlier = shop_of(seen, days)
    now, before = (seen.api("/ads/spend", range=each) for each in (days, earlier))
    assert len(now["rows"]) > 2
    with english(seen.browser.client):
        check(seen.page("/ads", range=days), now, before, currency, timezone)
        check(seen.page("/ads", range=days, compare="none"), now, None, currency, timezone)


def page_of(browser: Browser, **query: str) -> str:
    answer = browser.signed_in().get("/ads", query_string=query, headers=HTML)
    assert answer.status_code == 200
    return answer.get_data(as_text=True)


def check_days(client: FlaskClient, browser: Browser, ask: Ask, **query: str) -> str:
    """The last 30 days of a shop made by hand; now is 2026-03-31 12:00 UTC."""
    page = page_of(browser, **query)
    with english(client):
        now, before = (
            ask("/v1/ads/spend", range=each) for each in ("30d", "2026-01-31..2026-03-01")
        )
        check(page, now, before, "USD")
    return page


def won(shop: ShopBuilder, on: str, source: str, campaign: str, *figures: int) -> None:
    """Submissions, orders, gross and refunded of a campaign's UTM values."""
    utm = {"source": source, "campaign": campaign}
    submissions, *order = figures
    if submissions:
        shop.daily("utm_submission", on, cells=[(utm, submissions)])
    if order:
        shop.daily("utm_order", on, cells=[("visitor", utm, *order)])


def test_two_currencies_never_meet(
    client: FlaskClient, browser: Browser, ask: Ask, shop: ShopBuilder
) -> None:
    shop.spend("2026-03-10", "meta", "m1", "100.10")
    shop.spend("2026-03-10", "meta", "m2", "50")
    shop.spend("2026-02-10", "meta", "m1", "80")
    shop.spend("2026-03-10", "tiktok", "t1", "20000", currency="JPY")
    shop.spend("2026-03-10", "tiktok", "t2", "7000", currency="JPY")
    shop.rate("2026-03-01", "USD", "JPY", "150")
    won(shop, "2026-03-12", "meta", "m1", 40, 3, 45_000, 5_000)
    won(shop, "2026-02-12", "meta", "m1", 3, 1, 1_000)
    won(shop, "2026-03-12", "tiktok", "t1", 4, 2, 30_000)
    # All of it came back.
    won(shop, "2026-03-13", "tiktok", "t2", 1, 1, 900, 900)
    won(shop, "2026-03-12", "newsletter", "n", 2, 5, 12_345)
    page = check_days(client, browser, ask)
    found = sections(page)
    assert found["Ads"].cards["Spend"][:1] == ["$150.10"]
    assert "¥27,000" in found["Ads"].cards["Spend"]
    # 300 dollars are 45,000 yen.
    assert found["Ads"].cards["Return"][-2:-1] == ["1.67 ×"]
    assert "$823.45" in page


def test_revenue_without_an_exchange_rate_has_no_return(
    client: FlaskClient, browser: Browser, ask: Ask, shop: ShopBuilder
) -> None:
    shop.spend("2026-03-10", "tiktok", "t1", "20", currency="EUR")
    won(shop, "2026-03-12", "tiktok", "t1", 0, 2, 30_000)
    page = check_days(client, browser, ask)
    assert "Import the rates of that day. No pull of its spend is known." in page
    # Neither a bar nor a return.
    assert sections(page)["Ads"].cards["Return"][:1] == ["—"]
    assert page.count('<rect class="part-0"') == 0


def test_a_provider_without_spend_and_one_with_credits(
    client: FlaskClient, browser: Browser, ask: Ask, shop: ShopBuilder
) -> None:
    shop.spend("2025-03-10", "meta", "m1", "100")
    shop.spend("2026-03-10", "google", "g1", "-5")
    shop.spend("2026-03-10", "bing", "b1", "12")
    won(shop, "2026-03-12", "meta", "m1", 1, 1, 3_000)
    won(shop, "2026-03-12", "google", "g1", 1, 1, 3_000)
    page = check_days(client, browser, ask)
    assert "no spend in these days" in page
    # It spent and won nothing: a return of 0, which is known.
    assert "$0.00 credited, 0.00" in page


def test_unavailable_and_uncovered(
    client: FlaskClient, browser: Browser, ask: Ask, shop: ShopBuilder
) -> None:
    shop.spend("2026-03-10", "meta", "m1", "100")
    shop.spend("2026-03-10", "google", "g1", "100")
    shop.spend("2026-03-10", "pinterest", "p1", "100")
    shop.account("google", "error", "2026-03-30T06:30:00")
    shop.account("meta", "ok", "2026-03-20T16:00:00")
    won(shop, "2026-03-12", "meta", "m1", 4)
    won(shop, "2026-03-12", "meta", "unknown", 1)
    won(shop, "2026-03-12", "google", "g1", 3)
    won(shop, "2026-03-12", "google", "unknown", 1)
    won(shop, "2026-02-12", "google", "g1", 1)
    page = check_days(client, browser, ask)
    text = " ".join(page.split())
    assert "Check its access, then pull again. Last pulled: Mar 30, 2026, 6:30:00 AM." in text
    assert "pull again" in page
    # 80 % is enough, 75 % is not.
    assert page.count("Too low.") == 1
    assert 'class="short" y="3" width="75.0"' in page


def test_instants_are_in_the_shop_s_time(client: FlaskClient, engine: Engine) -> None:
    shop = ShopBuilder(engine, "yen.example", currency="JPY", timezone="Asia/Tokyo")
    add_member(engine, shop, "yen@example.com")
    shop.spend("2026-03-10", "meta", "m1", "1000.4", currency="JPY")
    shop.account("meta", "error", "2026-03-30T20:30:00")
    won(shop, "2026-03-12", "meta", "m1", 3, 1, 5_000)
    key = shop.mint()
    data = client.get("/v1/ads/spend", headers={"Authorization": f"Bearer {key}"}).get_json()[
        "data"
    ]
    browser = Browser(client)
    browser.sign_in("yen@example.com")
    page = browser.get("/ads", query_string={"compare": "none"}, headers=HTML).text
    with english(client):
        check(page, data, None, "JPY", "Asia/Tokyo")
    assert "Mar 31, 2026, 5:30:00" in page
    assert "¥1,000 spent" in page


def test_a_shop_without_ads_says_the_next_step(
    client: FlaskClient, browser: Browser, ask: Ask, shop: ShopBuilder
) -> None:
    page = check_days(client, browser, ask)
    assert "Import the spend (kind ad-spend)" in page
    won(shop, "2026-03-12", "newsletter", "n", 2, 5, 12_345)


def test_two_thousand_campaigns(
    client: FlaskClient, browser: Browser, ask: Ask, shop: ShopBuilder
) -> None:
    for number in range(2_000):
        shop.spend("2026-03-10", "meta", f"m{number:04}", f"{number + 1}.5")
    page = check_days(client, browser, ask)
    assert len(page) < 150_000


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("campaigns.campaign", ["Name of a", "Name of b", "Name of c", "Name of d"]),
        # The shop's currency first where most is first; without spend last, either way.
        ("campaigns.-spend", ["Name of b", "Name of a", "Name of c", "Name of d"]),
        ("campaigns.spend", ["Name of c", "Name of a", "Name of b", "Name of d"]),
        ("campaigns.-lead", ["Name of a", "Name of b", "Name of c", "Name of d"]),
        ("campaigns.-net", ["Name of d", "Name of a", "Name of c", "Name of b"]),
        ("campaigns.roas", ["Name of c", "Name of b", "Name of a", "Name of d"]),
    ],
)
def test_sorted_by_the_address(
    browser: Browser, shop: ShopBuilder, sort: str, order: list[str]
) -> None:
    shop.spend("2026-03-10", "meta", "a", "10")
    shop.spend("2026-03-10", "meta", "b", "20")
    shop.spend("2026-03-10", "meta", "c", "900", currency="EUR")
    shop.spend("2025-03-10", "meta", "d", "10")
    won(shop, "2026-03-12", "meta", "a", 2, 1, 1_000)
    won(shop, "2026-03-12", "meta", "b", 20)
    won(shop, "2026-03-12", "meta", "d", 1, 1, 9_000)
    table = sections(page_of(browser, sort=sort))["Campaigns"].tables[0]
    assert [row[1] for row in table[:4]] == order


def test_a_column_that_does_not_exist(browser: Browser, shop: ShopBuilder) -> None:
    shop.spend("2026-03-10", "meta", "a", "10")
    assert "cannot be sorted by &#39;clicks&#39;" in page_of(browser, sort="campaigns.clicks")

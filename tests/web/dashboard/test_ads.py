"""Every number of `/ads` is the API's, or a sum of the API's in one currency."""

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.fixtures import Ask
from tests.support.people import Browser, add_member
from tests.support.shop_builder import ShopBuilder
from tests.web.dashboard.ads_text import check
from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.page_figures import figures
from tests.web.dashboard.page_text import sections
from tests.web.dashboard.written import english, shop_of

HTML = {"Accept": "text/html"}
OPEN = "campaigns,providers"


@pytest.mark.parametrize("days", ["30d", "90d"])
def test_a_random_shop(seen: Seen, days: str) -> None:
    currency, timezone = shop_of(seen, days)
    now = seen.api("/ads/spend", range=days)
    assert len(now["rows"]) > 2
    with english(seen.browser.client):
        check(seen.page("/ads", range=days, compare="none", numbers=OPEN), now, currency, timezone)


def page_of(browser: Browser, **query: str) -> str:
    answer = browser.signed_in().get("/ads", query_string=query, headers=HTML)
    assert answer.status_code == 200
    return answer.get_data(as_text=True)


def check_days(client: FlaskClient, browser: Browser, ask: Ask, **query: str) -> str:
    """The last 30 days of a shop made by hand; now is 2026-03-31 12:00 UTC."""
    page = page_of(browser, compare="none", range="30d", numbers=OPEN, **query)
    with english(client):
        check(page, ask("/v1/ads/spend", range="30d"), "USD")
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
    assert found["Ads"].cards["Spend · in USD"] == ["$150.10"]
    # 300 dollars are 45,000 yen. They open with the card.
    texts = {(each.card, each.text) for each in figures(page) if each.card}
    assert ("Spend", "¥27,000") in texts
    assert ("Return", "1.67 ×") in texts
    assert "$823.45" in page


def test_revenue_without_an_exchange_rate_has_no_return(
    client: FlaskClient, browser: Browser, ask: Ask, shop: ShopBuilder
) -> None:
    shop.spend("2026-03-10", "tiktok", "t1", "20", currency="EUR")
    won(shop, "2026-03-12", "tiktok", "t1", 0, 2, 30_000)
    page = check_days(client, browser, ask)
    assert "Import the rates of that day. No pull of its spend is known." in page
    assert sections(page)["Ads"].cards["Return"][:1] == ["—"]


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
    assert ("roas", "bing", 0.0) in {
        (each.name, each.row.get("provider"), each.now) for each in figures(page)
    }


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
    assert page.count("Put the campaign’s id in utm_id") == 1
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
    page = browser.get(
        "/ads", query_string={"compare": "none", "range": "30d", "numbers": OPEN}, headers=HTML
    ).text
    with english(client):
        check(page, data, "JPY", "Asia/Tokyo")
    assert "Mar 31, 2026, 5:30:00" in page
    assert "¥1,000" in page


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
    check_days(client, browser, ask)
    assert len(page_of(browser)) < 150_000


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
    assert [row[0] for row in table[:4]] == order


def test_a_column_that_does_not_exist(browser: Browser, shop: ShopBuilder) -> None:
    shop.spend("2026-03-10", "meta", "a", "10")
    assert "cannot be sorted by &#39;clicks&#39;" in page_of(browser, sort="campaigns.clicks")

"""Endpoint 18, literal rows in, literal answers out. Now is 2026-03-31 12:00 UTC."""

from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.fixtures import Ask
from tests.support.shop_builder import ShopBuilder

PATH = "/v1/ads/spend"


def orders(shop: ShopBuilder, on: str, *cells: tuple) -> None:
    shop.daily("utm_order", on, cells=[("visitor", *cell) for cell in cells])


def test_rows_coverage_and_the_unattributed(shop: ShopBuilder, ask: Ask) -> None:
    shop.spend("2026-03-10", "meta", "c1", "100.10", impressions=1000, clicks=10)
    shop.spend(
        "2026-03-11", "meta", "c1", "0.20", segment="a", impressions=5, campaign_name="Renamed"
    )
    shop.spend("2025-01-01", "google", "g1", "5", campaign_name="Brand")
    shop.daily(
        "utm_submission",
        "2026-03-10",
        cells=[
            ({"source": "FB", "id": "c1"}, 2),
            ({"source": "ig", "campaign": "name OF c1"}, 1),
            ({"source": "meta", "campaign": "?"}, 1),
            ({"source": "newsletter", "id": "c1"}, 5),
        ],
    )
    orders(
        shop,
        "2026-03-12",
        ({"source": "facebook", "campaign": "c1"}, 2, 30_030, 30),
        ({"source": "google", "campaign": "brand"}, 1, 500),
        ({"source": "newsletter"}, 3, 999, 99),
    )
    answer = ask(PATH)
    assert answer["rows"] == [
        {
            "provider": "meta",
            "campaignId": "c1",
            "campaignName": "Renamed",
            "currency": "USD",
            "spend": 100.3,
            "impressions": 1005,
            "clicks": 10,
            "attributedSubmissions": 3,
            "attributedOrders": 2,
            "attributedNetRevenueCents": 30_000,
            "revenueCurrency": "USD",
            "costPerLead": 33.43,
            "costPerAcquisition": 50.15,
            "roas": 2.991,
        },
        {
            "provider": "google",
            "campaignId": "g1",
            "campaignName": "Brand",
            "currency": "USD",
            "spend": 0,
            "impressions": 0,
            "clicks": 0,
            "attributedSubmissions": 0,
            "attributedOrders": 1,
            "attributedNetRevenueCents": 500,
            "revenueCurrency": "USD",
            "costPerLead": 0,
            "costPerAcquisition": 0,
            "roas": 0,
        },
        {
            "provider": "",
            "campaignId": "",
            "campaignName": "unattributed",
            "currency": "",
            "spend": 0,
            "impressions": 0,
            "clicks": 0,
            "attributedSubmissions": 0,
            "attributedOrders": 3,
            "attributedNetRevenueCents": 900,
            "revenueCurrency": "",
            "costPerLead": 0,
            "costPerAcquisition": 0,
            "roas": 0,
        },
    ]
    assert answer["attributionCoverage"] == {"google": None, "meta": 75}
    assert answer["unavailableProviders"] == []


def test_match_by_id_then_campaign_then_name(shop: ShopBuilder, ask: Ask) -> None:
    for campaign, name in (("1", "two"), ("2", "One"), ("3", "one"), ("x", "two")):
        shop.spend("2026-03-10", "tiktok", campaign, "1", campaign_name=name)
    shop.daily(
        "utm_submission",
        "2026-03-10",
        cells=[
            ({"source": "tiktok", "campaign": "2", "id": "1"}, 1),
            ({"source": "tiktok", "campaign": "2", "id": "?"}, 10),
            ({"source": "tiktok", "campaign": "ONE"}, 100),
            ({"source": "tiktok", "campaign": "two"}, 1000),
            ({"source": "meta", "campaign": "two"}, 5),
        ],
    )
    rows = ask(PATH)["rows"]
    assert {row["campaignId"]: row["attributedSubmissions"] for row in rows} == {
        "1": 1001,
        "2": 110,
        "3": 0,
        "x": 0,
    }


def test_two_currencies_of_one_campaign(shop: ShopBuilder, ask: Ask) -> None:
    shop.spend("2026-03-10", "meta", "c", "10", currency="USD")
    shop.spend("2026-03-10", "meta", "c", "900", currency="JPY", segment="jp")
    shop.rate("2026-03-09", "USD", "JPY", "150")
    shop.rate("2026-03-11", "USD", "JPY", "100")
    orders(shop, "2026-03-10", ({"source": "fb", "id": "c"}, 1, 600))
    orders(shop, "2026-03-15", ({"source": "fb", "id": "c"}, 1, 150))
    yen, dollars = ask(PATH)["rows"]
    # 6.00 USD at 150 and 1.50 USD at 100 are 1,050 yen.
    assert (yen["currency"], yen["attributedOrders"], yen["roas"]) == ("JPY", 2, 1.1667)
    assert (dollars["currency"], dollars["attributedOrders"], dollars["roas"]) == ("USD", 0, 0)


def test_without_spend_in_the_range_the_currency_with_most_ever(
    shop: ShopBuilder, ask: Ask
) -> None:
    shop.spend("2025-03-10", "meta", "c", "9", currency="USD")
    shop.spend("2025-03-10", "meta", "c", "10", currency="EUR", segment="eu")
    shop.spend("2025-04-10", "meta", "c", "1", currency="USD")
    shop.daily("utm_submission", "2026-03-10", cells=[({"source": "fb", "id": "c"}, 1)])
    (row,) = ask(PATH)["rows"]
    assert (row["currency"], row["spend"], row["attributedSubmissions"]) == ("EUR", 0, 1)


def test_inverse_and_crossed_rates(shop: ShopBuilder, ask: Ask) -> None:
    for currency in ("GBP", "SEK", "KWD"):
        shop.spend("2026-03-10", "meta", currency, "10", currency=currency)
    orders(
        shop,
        "2026-03-11",
        *(({"source": "fb", "id": currency}, 1, 1000) for currency in ("GBP", "SEK", "KWD")),
    )
    shop.rate("2026-01-01", "GBP", "USD", "1.25")
    for base, to_dollar in (("EUR", "1.1"), ("AUD", "0.7")):
        shop.rate("2026-01-01", base, "USD", to_dollar)
        shop.rate("2026-01-01", base, "SEK", "11")
    answer = ask(PATH)
    roas = {row["currency"]: row["roas"] for row in answer["rows"]}
    assert roas == {
        "GBP": 0.8,  # 10 USD / 1.25
        "SEK": 15.7143,  # through AUD, the first base: 10 x 11 / 0.7
        "KWD": 0,  # no way to it
    }
    assert answer["unavailableProviders"] == [
        {"provider": "meta", "reason": "no_exchange_rate", "lastSyncedAt": None}
    ]


def test_minor_units_of_the_shops_currency(engine: Engine, client: FlaskClient) -> None:
    shop = ShopBuilder(engine, "yen.example", currency="JPY")
    shop.spend("2026-03-10", "meta", "c", "1000", currency="JPY")
    orders(shop, "2026-03-10", ({"source": "fb", "id": "c"}, 1, 2500))
    answer = client.get(PATH, headers={"Authorization": f"Bearer {shop.mint()}"}).get_json()
    assert answer["data"]["rows"][0]["roas"] == 2.5


def test_unavailable_providers(shop: ShopBuilder, ask: Ask) -> None:
    shop.account("google", "error", "2026-03-31T10:00:00", "a")
    shop.account("google", "ok", "2026-03-20T10:00:00", "b")
    shop.account("google", "ok", "2026-03-21T10:00:00", "c")
    shop.account("meta", "ok", "2026-03-29T12:00:00")
    shop.account("tiktok", "ok", "2026-03-29T11:59:59")
    assert ask(PATH)["unavailableProviders"] == [
        {"provider": "google", "reason": "stale", "lastSyncedAt": "2026-03-20T10:00:00.000Z"},
        {"provider": "google", "reason": "sync_failed", "lastSyncedAt": "2026-03-31T10:00:00.000Z"},
        {"provider": "tiktok", "reason": "stale", "lastSyncedAt": "2026-03-29T11:59:59.000Z"},
    ]
    past = ask(PATH, range="2026-03-01..2026-03-20")["unavailableProviders"]
    assert [(entry["provider"], entry["reason"]) for entry in past] == [
        ("google", "stale"),
        ("google", "sync_failed"),
    ]


def test_decimals_add_up_exactly(shop: ShopBuilder, ask: Ask) -> None:
    for segment in range(10):
        shop.spend("2026-03-10", "meta", "c", "0.1", segment=str(segment))
    shop.daily("utm_submission", "2026-03-10", cells=[({"source": "fb", "id": "c"}, 8)])
    (row,) = ask(PATH)["rows"]
    assert (row["spend"], row["costPerLead"]) == (1, 0.13)  # 0.125, half-up

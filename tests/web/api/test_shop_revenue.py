"""Endpoints 14, 15 and 17, literal rows in, literal answers out."""

from tests.support.fixtures import Ask
from tests.support.shop_builder import ShopBuilder

NOTHING = {
    "orders": 0,
    "grossRevenueCents": 0,
    "totalRefundedCents": 0,
    "netRevenueCents": 0,
    "averageOrderValueCents": 0,
    "shareOfRevenue": 0,
}


def test_attribution(shop: ShopBuilder, ask: Ask) -> None:
    shop.daily("attribution", "2026-03-10", type="visitor", orders=2, gross=3001, refunded=1)
    shop.daily("attribution", "2026-03-11", type="unattributed", orders=1, gross=6000)
    assert ask("/v1/attribution") == [
        {"attributionType": "discount_code", **NOTHING},
        {"attributionType": "customer", **NOTHING},
        {
            "attributionType": "visitor",
            "orders": 2,
            "grossRevenueCents": 3001,
            "totalRefundedCents": 1,
            "netRevenueCents": 3000,
            "averageOrderValueCents": 1501,
            "shareOfRevenue": 33.33,
        },
        {
            "attributionType": "unattributed",
            "orders": 1,
            "grossRevenueCents": 6000,
            "totalRefundedCents": 0,
            "netRevenueCents": 6000,
            "averageOrderValueCents": 6000,
            "shareOfRevenue": 66.67,
        },
    ]
    daily = ask("/v1/attribution/daily", range="2026-03-09..2026-03-11")
    assert len(daily) == 12
    assert daily[0] == {"date": "2026-03-09", "attributionType": "discount_code", **NOTHING}
    assert daily[6]["shareOfRevenue"] == 100
    assert [row["date"] for row in daily] == sorted(row["date"] for row in daily)


def fill(shop: ShopBuilder) -> None:
    spring = {"source": "meta", "campaign": "Spring", "medium": "cpc"}
    shop.daily(
        "utm_submission",
        "2026-03-10",
        cells=[
            (spring, 3, 1),
            ({**spring, "id": "7"}, 1, 1),
            ({}, 2, 0),
            ({"source": "gone"}, 0, 0),
        ],
    )
    shop.daily(
        "utm_order",
        "2026-03-10",
        cells=[
            ("visitor", spring, 1, 1000, 100),
            ("customer", {**spring, "id": "7"}, 1, 500, 0),
            ("unattributed", {**spring, "id": "7"}, 1, 70, 0),
            ("unattributed", {}, 2, 9000, 0),
        ],
    )


def test_by_campaign(shop: ShopBuilder, ask: Ask) -> None:
    fill(shop)
    assert ask("/v1/revenue/by-utm", dimension="campaign") == {
        "dimension": "campaign",
        "rows": [
            {
                "utmSource": "meta",
                "utmCampaign": "Spring",
                "submissionCount": 4,
                "convertedSubmissions": 2,
                "attributedOrders": 2,
                "attributedRevenueCents": 1500,
                "conversionRate": 50,
                "grossRevenueCents": 1500,
                "totalRefundedCents": 100,
                "netRevenueCents": 1400,
            },
            {
                "utmSource": "",
                "utmCampaign": "",
                "submissionCount": 2,
                "convertedSubmissions": 0,
                "attributedOrders": 0,
                "attributedRevenueCents": 0,
                "conversionRate": 0,
                "grossRevenueCents": 0,
                "totalRefundedCents": 0,
                "netRevenueCents": 0,
            },
        ],
    }


def test_by_attribution_type(shop: ShopBuilder, ask: Ask) -> None:
    fill(shop)
    rows = ask("/v1/revenue/by-utm", dimension="attribution")["rows"]
    assert rows[0] == {
        "attributionType": "unattributed",
        "utmSource": "",
        "utmCampaign": "",
        "orders": 2,
        "grossRevenueCents": 9000,
        "totalRefundedCents": 0,
        "netRevenueCents": 9000,
    }
    assert [(row["attributionType"], row["netRevenueCents"]) for row in rows] == [
        ("unattributed", 9000),
        ("visitor", 900),
        ("customer", 500),
        ("unattributed", 70),
    ]


def test_hierarchy(shop: ShopBuilder, ask: Ask) -> None:
    fill(shop)
    assert ask("/v1/revenue/by-utm", dimension="hierarchy")["rows"][1] == {
        "utmSource": "meta",
        "utmCampaign": "Spring",
        "utmMedium": "cpc",
        "utmTerm": "",
        "utmContent": "",
        "orders": 3,
        "grossRevenueCents": 1570,
        "totalRefundedCents": 100,
        "netRevenueCents": 1470,
    }

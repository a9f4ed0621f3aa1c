"""Endpoint 19, literal rows in, literal answers out. Today is 2026-03-31."""

from tests.support.fixtures import Ask
from tests.support.shop_builder import ShopBuilder

FORM = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"


def test_by_form_with_horizons(shop: ShopBuilder, ask: Ask) -> None:
    shop.form(FORM)
    shop.daily(
        "ltv_form",
        "2026-03-01",
        form=FORM,
        customers=2,
        purchasers=1,
        repeaters=1,
        orders=3,
        gross=9000,
        refunded=999,
        net_30=5001,
        net_60=6000,
    )
    shop.daily(
        "ltv_form",
        "2026-03-02",
        form=FORM,
        customers=1,
        purchasers=1,
        orders=1,
        gross=1000,
        net_30=1000,
    )
    shop.daily("ltv_form", "2026-01-30", form=FORM, customers=1, net_30=7, net_60=9)
    shop.daily("ltv_form", "2026-03-02", form=OTHER, customers=1, purchasers=0)
    answer = ask("/v1/customers/ltv", dimension="form", range="2026-01-30..2026-03-31")
    assert answer["dimension"] == "form"
    first, second = answer["rows"]
    assert first == {
        "formId": FORM,
        "formName": "A form",
        "customers": 4,
        "purchasers": 2,
        "orders": 4,
        "grossRevenueCents": 10000,
        "totalRefundedCents": 999,
        "netRevenueCents": 9001,
        "ltvCents": 2250,
        "averageOrderValueCents": 2500,
        "ordersPerCustomer": 1,
        "repeatRate": 50,
        "horizons": [
            # 2026-03-01 + 30 days is today, so it counts; the day after does not.
            {"days": 30, "customers": 3, "netRevenueCents": 5008, "ltvCents": 1669},
            {"days": 60, "customers": 1, "netRevenueCents": 9, "ltvCents": 9},
            {"days": 90, "customers": 0, "netRevenueCents": 0, "ltvCents": 0},
            {"days": 180, "customers": 0, "netRevenueCents": 0, "ltvCents": 0},
            {"days": 365, "customers": 0, "netRevenueCents": 0, "ltvCents": 0},
        ],
    }
    assert (second["formId"], second["formName"], second["customers"]) == (OTHER, None, 1)
    assert [horizon["customers"] for horizon in second["horizons"]] == [0] * 5


def test_by_segment(shop: ShopBuilder, ask: Ask) -> None:
    # customers, purchasers, repeaters, orders, gross, refunded, net_30
    shop.daily(
        "ltv_segment",
        "2026-02-10",
        cells=[
            ("size", "L", 1, 1, 0, 1, 500, 0, 400),
            ("size", "S", 2, 0),
            ("colour", "red", 1, 1, 0, 1, 500, 0, 400),
        ],
    )
    shop.daily("ltv_segment", "2026-03-10", cells=[("size", "L", 1), ("size", "M", 0)])
    answer = ask("/v1/customers/ltv", dimension="segment", range="90d")
    assert [(row["fieldId"], row["value"], row["customers"]) for row in answer["rows"]] == [
        ("colour", "red", 1),
        ("size", "L", 2),
        ("size", "S", 2),
    ]
    assert answer["rows"][1]["horizons"][0] == {
        "days": 30,
        "customers": 1,
        "netRevenueCents": 400,
        "ltvCents": 400,
    }

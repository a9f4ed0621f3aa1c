"""Endpoint 16, literal rows in, literal answer out."""

from tests.support.fixtures import Ask
from tests.support.shop_builder import ShopBuilder

POOL = "form:11111111-1111-4111-8111-111111111111"


def test_discounts(shop: ShopBuilder, ask: Ask) -> None:
    shop.daily(
        "discount",
        "2026-03-10",
        discount=POOL,
        issued=3,
        orders=1,
        attributed=1,
        discounted=500,
        gross=4001,
        refunded=1,
    )
    shop.daily("discount", "2026-03-11", discount="WELCOME", issued=0, orders=1)
    shop.daily("discount", "2026-03-12", discount="WELCOME", orders=1, gross=301)
    shop.daily("discount", "2026-03-12", discount="d_1", orders=1)
    shop.daily("discount", "2026-03-12", discount="GONE")
    for code in ("AAA", "BBB"):
        shop.code(code, POOL)
    shop.code("WELCOME", "WELCOME")
    rows = ask("/v1/discounts/performance")
    assert rows == [
        {
            "discountId": "WELCOME",
            "code": "WELCOME",
            "issued": 0,
            "orders": 2,
            "attributedOrders": 0,
            "redemptionRate": 0,
            "discountCents": 0,
            "grossRevenueCents": 301,
            "totalRefundedCents": 0,
            "netRevenueCents": 301,
            "averageOrderValueCents": 151,
        },
        {
            "discountId": POOL,
            "code": None,
            "issued": 3,
            "orders": 1,
            "attributedOrders": 1,
            "redemptionRate": 33.33,
            "discountCents": 500,
            "grossRevenueCents": 4001,
            "totalRefundedCents": 1,
            "netRevenueCents": 4000,
            "averageOrderValueCents": 4001,
        },
        {
            "discountId": "d_1",
            "code": None,
            "issued": 0,
            "orders": 1,
            "attributedOrders": 0,
            "redemptionRate": 0,
            "discountCents": 0,
            "grossRevenueCents": 0,
            "totalRefundedCents": 0,
            "netRevenueCents": 0,
            "averageOrderValueCents": 0,
        },
    ]

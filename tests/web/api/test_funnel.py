"""Endpoints 6, 9, 10 and 13, literal rows in, literal answers out."""

from tests.support.fixtures import Ask
from tests.support.shop_builder import ShopBuilder, day
from warehouse.domain.vocabulary import visitor_kind

FORM = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"


def fill(shop: ShopBuilder) -> None:
    shop.form(FORM)
    shop.daily(
        "funnel",
        "2026-03-01",
        form=FORM,
        views=7,
        starts=4,
        subscriptions=2,
        completions=1,
        submissions=3,
        converted=1,
        orders=2,
        gross=10000,
        refunded=2500,
    )
    shop.daily("funnel", "2026-03-02", form=FORM, views=2, submissions=0)
    shop.daily("funnel", "2026-03-02", form=OTHER, views=100)
    shop.daily("funnel", "2026-01-01", form=FORM, views=1000)


def test_funnel(shop: ShopBuilder, ask: Ask) -> None:
    fill(shop)
    funnel = ask(f"/v1/forms/{FORM.upper()}/funnel", range="2026-03-01..2026-03-02")
    assert funnel == funnel | {
        "formId": FORM,
        "views": 9,
        "netRevenueCents": 7500,
        "completionRate": 11.11,
        "conversionRate": 33.33,
        "stages": [
            {"stage": "view", "count": 9, "rateFromPrevious": 100, "rateFromFirst": 100},
            {"stage": "start", "count": 4, "rateFromPrevious": 44.44, "rateFromFirst": 44.44},
            {"stage": "submit", "count": 3, "rateFromPrevious": 75, "rateFromFirst": 33.33},
            {"stage": "convert", "count": 1, "rateFromPrevious": 33.33, "rateFromFirst": 11.11},
        ],
    }


def test_funnel_of_nothing(shop: ShopBuilder, ask: Ask) -> None:
    fill(shop)
    funnel = ask(f"/v1/forms/{FORM}/funnel", range="2025-01-01")
    assert (funnel.pop("formId"), funnel.pop("formName")) == (FORM, "A form")
    assert {stage["stage"] for stage in funnel.pop("stages")} == {
        "view",
        "start",
        "submit",
        "convert",
    }
    assert set(funnel.values()) == {0}


def test_devices(shop: ShopBuilder, ask: Ask) -> None:
    shop.form(FORM)
    shop.daily(
        "device",
        "2026-03-03",
        form=FORM,
        device="mobile",
        views=3,
        submissions=1,
        converted=1,
        orders=1,
        gross=500,
    )
    shop.daily("device", "2026-03-02", form=FORM, device="desktop", views=3)
    shop.daily("device", "2026-03-02", form=FORM, device="tablet")
    rows = ask(f"/v1/forms/{FORM}/devices")
    assert rows[0] == rows[0] | {
        "views": 3,
        "submissions": 0,
        "conversionRate": 0,
        "shareOfViews": 50,
    }
    assert [row["deviceType"] for row in rows] == ["desktop", "mobile"]
    assert rows[1]["submissionRate"] == 33.33
    assert rows[1]["conversionRate"] == 100


def test_visitors_count_once_over_the_range(shop: ShopBuilder, ask: Ask) -> None:
    shop.form(FORM)
    everyone, purchasers = visitor_kind(0, 0), visitor_kind(0, 2)
    shop.daily("visitor", "2026-03-01", form=FORM, kind=everyone, previous=-1, visitors=5)
    shop.daily(
        "visitor", "2026-03-05", form=FORM, kind=everyone, previous=day("2026-03-01"), visitors=3
    )
    shop.daily("visitor", "2026-03-05", form=FORM, kind=everyone, previous=-1, visitors=2)
    shop.daily("visitor", "2026-03-05", form=FORM, kind=purchasers, previous=-1, visitors=1)
    path = f"/v1/forms/{FORM}/visitor-conversion"
    assert ask(path, range="2026-03-01..2026-03-05")[0] == {
        "visitorType": "all",
        "visitors": 7,
        "submitters": 0,
        "purchasers": 1,
        "submissionRate": 0,
        "purchaseRate": 14.29,
        "conversionRate": 0,
    }
    later = ask(path, range="2026-03-02..2026-03-05")
    assert [row["visitorType"] for row in later] == ["all", "new", "returning"]
    assert [row["visitors"] for row in later] == [5, 0, 0]


def test_trends_have_every_day(shop: ShopBuilder, ask: Ask) -> None:
    fill(shop)
    shop.daily("form_orders", "2026-03-02", form=FORM, orders=1, gross=900, refunded=900)
    rows = ask(f"/v1/forms/{FORM}/trends", range="2026-02-28..2026-03-02")
    assert [row["date"] for row in rows] == ["2026-02-28", "2026-03-01", "2026-03-02"]
    assert set(rows[0].values()) == {"2026-02-28", 0}
    assert (rows[1]["submissions"], rows[1]["orders"]) == (3, 0)
    assert rows[1]["submissionRate"] == 42.86
    assert rows[2] == rows[2] | {
        "views": 2,
        "orders": 1,
        "totalRefundedCents": 900,
        "conversionRate": 0,
    }

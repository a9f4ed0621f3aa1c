"""Shops with odd data, through the product's own import: for pages that must bear them."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from tests.support.product import Product

ODD_SHOP: Final = "odd.example"
# 255 letters without a blank; HTML; right to left.
ODD_NAMES: Final = ("x" * 255, '<b onclick="alert(1)">\u202e\u05d0\u05d1\u05d2</b>')
ODD_FORMS: Final = (
    "8f0e0000-0000-4000-8000-000000000001",
    "8f0e0000-0000-4000-8000-000000000002",
)
MANY_SHOP: Final = "many.example"
MANY_FORMS, MANY_CAMPAIGNS = 200, 2_000


def form_id(number: int) -> str:
    """The id of a form of `many_forms_and_campaigns`."""
    return f"8f0e0000-0000-4000-8000-{number:012}"


def one_visitor(product: Product, *, buys: bool = True) -> None:
    """A shop with yen and one visitor, who sends two forms and perhaps buys, with HTML in every text."""
    day = datetime.now(UTC).replace(microsecond=0) - timedelta(days=2)
    letters, markup = ODD_NAMES
    product.load("shops", [{"shop_id": ODD_SHOP, "currency": "JPY", "timezone": "Asia/Tokyo"}])
    product.load(
        "forms",
        [
            {"form_id": id, "shop_id": ODD_SHOP, "name": name, "status": "published"}
            for id, name in zip(ODD_FORMS, ODD_NAMES, strict=True)
        ],
    )
    shared = {
        "shop_id": ODD_SHOP,
        "visitor_id": "v",
        "customer_id": "c",
        "utm_source": markup,
        "utm_medium": letters,
        "utm_campaign": letters,
        "utm_term": markup,
        "utm_content": letters,
        "discount_code": "<CODE>",
    }
    moments: list[dict[str, Any]] = [
        {"type": "view"},
        {"type": "step_view", "step_id": "s", "step_index": 0, "step_name": markup},
        {"type": "answer", "field_id": markup, "field_type": "choice", "value": letters},
        {"type": "answer", "field_id": "other", "field_type": "choice", "value": "1"},
        {"type": "complete"},
    ]
    product.load(
        "events",
        [
            {
                **shared,
                **moment,
                "form_id": id,
                "form_session_id": f"s{id}",
                "event_id": f"{id}{number}",
                "occurred_at": (day + timedelta(seconds=number)).isoformat(),
            }
            for id in ODD_FORMS
            for number, moment in enumerate(moments)
        ],
    )
    if buys:
        order = {"order_id": "o", "created_at": (day + timedelta(hours=1)).isoformat()}
        product.load(
            "orders",
            [{**order, **shared, "total_cents": 1200, "discount_codes": [{"code": "<CODE>"}]}],
        )
        spend = {"provider": "meta", "campaign_id": "1", "campaign_name": markup, "currency": "JPY"}
        numbers = {"spend": "500", "impressions": 10, "clicks": 1, "date": str(day.date())}
        product.load("ad-spend", [{"shop_id": ODD_SHOP, **spend, **numbers}])
    product.rollup()


def many_forms_and_campaigns(product: Product) -> None:
    """A shop with 200 forms; each of its 2,000 visitors sends one, and came by a campaign of their own."""
    day = datetime.now(UTC) - timedelta(days=1)
    product.load("shops", [{"shop_id": MANY_SHOP, "currency": "EUR"}])
    product.load(
        "forms",
        [
            {"form_id": form_id(number), "shop_id": MANY_SHOP, "name": f"Form {number:03}"}
            for number in range(MANY_FORMS)
        ],
    )
    session = {"shop_id": MANY_SHOP, "occurred_at": day.isoformat(), "utm_source": "s"}
    product.load(
        "events",
        [
            {
                **session,
                "event_id": f"{number}{kind}",
                "type": kind,
                "form_id": form_id(number % MANY_FORMS),
                "form_session_id": str(number),
                "visitor_id": str(number),
                "utm_campaign": f"campaign {number}",
            }
            for number in range(MANY_CAMPAIGNS)
            for kind in ("view", "complete")
        ],
    )
    product.rollup()

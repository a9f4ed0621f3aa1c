"""Shopify's orders in the answers: contract 2, "Files of other systems", 7."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.import_files import written
from tests.support.product import Product

SHOP = "a.example"
ORDER: dict[str, Any] = {
    "created_at": "2026-10-05T09:00:00Z",
    "updated_at": "2026-10-05T12:00:00Z",
    "currency": "EUR",
    "total_discounts": "0.00",
    "test": False,
    "discount_codes": [],
    "refunds": [],
    "cancelled_at": None,
    "financial_status": "paid",
}


def days(product: Product) -> dict[str, tuple[int, int, int]]:
    """Orders, gross and net of each day that has any."""
    _, body = product.get("/v1/attribution/daily", {"range": "2026-01-01..2026-12-31"}, SHOP)
    names = ("orders", "grossRevenueCents", "netRevenueCents")
    sums: dict[str, tuple[int, int, int]] = {}
    for row in body["data"]:
        before = sums.get(row["date"], (0, 0, 0))
        one, two, three = (sum(pair) for pair in zip(before, map(row.get, names), strict=True))
        sums[row["date"]] = one, two, three
    return {day: figures for day, figures in sums.items() if any(figures)}


def take(product: Product, path: Path, content: Any) -> None:
    product.load("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    product.take("orders", [written(path, content)])
    product.rollup()


def test_orders_that_were_brought_over_are_on_the_day_they_were_placed(
    product: Product, tmp_path: Path
) -> None:
    placed = {
        9001: ("80.00", "2026-02-03T10:00:00Z"),
        9002: ("40.00", "2026-03-11T10:00:00Z"),
        9003: ("25.00", "2026-10-05T09:00:00Z"),
    }
    orders = [
        ORDER | {"id": id, "total_price": total, "processed_at": at}
        for id, (total, at) in placed.items()
    ]
    take(product, tmp_path / "orders.json", json.dumps({"orders": orders}).encode())
    assert days(product) == {
        "2026-02-03": (1, 8000, 8000),
        "2026-03-11": (1, 4000, 4000),
        "2026-10-05": (1, 2500, 2500),
    }


REMOVED = {
    "id": 77,
    "created_at": "2026-10-06T11:00:00Z",
    "transactions": [],
    "refund_line_items": [{"quantity": 1, "line_item_id": 1, "subtotal": "40.00"}],
}


@pytest.mark.parametrize(
    ("total", "current", "figures"),
    [
        # A line was removed before it was paid; one was exchanged for another; one was added.
        ("100.00", "60.00", (1, 10000, 6000)),
        ("350.00", "250.00", (1, 35000, 25000)),
        ("140.00", "140.00", (1, 14000, 14000)),
    ],
)
def test_an_edited_order_counts_what_is_left_of_it(
    product: Product, tmp_path: Path, total: str, current: str, figures: tuple[int, int, int]
) -> None:
    """On the day of the order, by each API."""
    order = ORDER | {"id": 9101, "total_price": total, "current_total_price": current}
    take(product, tmp_path / "orders.ndjson", [order | {"refunds": [REMOVED]}])

    def money(amount: str) -> dict[str, Any]:
        return {"shopMoney": {"amount": amount, "currencyCode": "EUR"}}

    graphql = {
        "id": "gid://shopify/Order/9102",
        "createdAt": "2026-10-06T09:00:00Z",
        "updatedAt": "2026-10-07T12:00:00Z",
        "totalPriceSet": money(total),
        "currentTotalPriceSet": money(current),
        "refunds": [
            {
                "id": "gid://shopify/Refund/78",
                "createdAt": "2026-10-07T11:00:00Z",
                "totalRefundedSet": money("0.00"),
            }
        ],
    }
    take(product, tmp_path / "orders.jsonl", [graphql])
    assert days(product) == {"2026-10-05": figures, "2026-10-06": figures}

"""Endpoints 11 and 12, literal rows in, literal answers out."""

from tests.support.fixtures import Ask
from tests.support.shop_builder import ShopBuilder
from warehouse.domain.hash_ids import text_id

FORM = "11111111-1111-4111-8111-111111111111"


def pair(shop: ShopBuilder, field: str, other: str, cells: list[tuple]) -> None:
    """A table of two fields, stored the lesser id first as jobs do."""
    if text_id(field) > text_id(other):
        field, other = other, field
        cells = [(b, a, *measures) for a, b, *measures in cells]
    shop.daily("cross_field", "2026-03-10", form=FORM, field_a=field, field_b=other, cells=cells)


def test_cross_field_either_way(shop: ShopBuilder, ask: Ask) -> None:
    shop.form(FORM)
    pair(
        shop,
        "size",
        "colour",
        [
            ("S", "red", 3, 1),
            ("S", "blue", 1),
            ("L", "blue", 4, 2),
            ("L", "red", 0),
        ],
    )
    path = f"/v1/forms/{FORM}/cross-field"
    rows = ask(path, fieldA="size", fieldB="colour")
    assert rows == [
        {
            "valueA": "L",
            "valueB": "blue",
            "count": 4,
            "expectedCount": 2.5,
            "lift": 1.6,
            "rowPercent": 100,
            "columnPercent": 80,
            "totalPercent": 50,
            "convertedSubmissions": 2,
            "conversionRate": 50,
            "cramersV": 0.7746,
        },
        {
            "valueA": "S",
            "valueB": "red",
            "count": 3,
            "expectedCount": 1.5,
            "lift": 2,
            "rowPercent": 75,
            "columnPercent": 100,
            "totalPercent": 37.5,
            "convertedSubmissions": 1,
            "conversionRate": 33.33,
            "cramersV": 0.7746,
        },
        {
            "valueA": "S",
            "valueB": "blue",
            "count": 1,
            "expectedCount": 2.5,
            "lift": 0.4,
            "rowPercent": 25,
            "columnPercent": 20,
            "totalPercent": 12.5,
            "convertedSubmissions": 0,
            "conversionRate": 0,
            "cramersV": 0.7746,
        },
    ]
    turned = ask(path, fieldA="colour", fieldB="size")
    assert [(row["valueA"], row["valueB"], row["rowPercent"]) for row in turned] == [
        ("blue", "L", 80),
        ("red", "S", 100),
        ("blue", "S", 20),
    ]
    assert ask(path, fieldA="size", fieldB="unknown") == []


def test_independent_fields_and_a_single_value(shop: ShopBuilder, ask: Ask) -> None:
    shop.form(FORM)
    pair(shop, "x", "y", [("a", "c", 1), ("a", "d", 2), ("b", "c", 3), ("b", "d", 6)])
    pair(shop, "x", "z", [("a", "e", 1), ("b", "e", 2)])
    path = f"/v1/forms/{FORM}/cross-field"
    assert {row["cramersV"] for row in ask(path, fieldA="x", fieldB="y")} == {0}
    assert {row["cramersV"] for row in ask(path, fieldA="x", fieldB="z")} == {0}


def test_the_first_thousand_cells(shop: ShopBuilder, ask: Ask) -> None:
    shop.form(FORM)
    pair(shop, "x", "y", [(f"{n:04}", "v", 2 if n == 1100 else 1) for n in range(1101)])
    rows = ask(f"/v1/forms/{FORM}/cross-field", fieldA="x", fieldB="y")
    assert [row["valueA"] for row in rows] == ["1100"] + [f"{n:04}" for n in range(999)]
    assert rows[0]["totalPercent"] == 0.18  # 2 of all 1,102, not of those that are shown


def test_response_revenue(shop: ShopBuilder, ask: Ask) -> None:
    shop.form(FORM)
    shop.daily(
        "funnel",
        "2026-03-10",
        form=FORM,
        views=20,
        submissions=10,
        converted=3,
        orders=4,
        gross=5000,
        refunded=1000,
    )
    # submissions, converted, orders, gross, refunded, lists
    shop.daily(
        "response",
        "2026-03-10",
        form=FORM,
        cells=[
            ("size", None, 6, 2, 3, 4000, 1000, 1),
            ("size", "L", 3, 1, 1, 2000, 0),
            ("size", "S", 4, 2, 3, 3999, 1999),
            ("comment", None, 5, 1, 1, 10, 0),
            ("every", None, 10, 3, 4, 5000, 1000, 0),
            ("every", "yes", 10, 3, 4, 5000, 1000),
            ("every", "no", 0),
        ],
    )
    rows = ask(f"/v1/forms/{FORM}/response-revenue")
    assert [(row["fieldId"], row["value"]) for row in rows] == [
        ("every", "yes"),
        ("size", "L"),
        ("size", "S"),
        ("size", None),
    ]
    assert rows[2] == {
        "fieldId": "size",
        "value": "S",
        "submissions": 4,
        "convertedSubmissions": 2,
        "orders": 3,
        "grossRevenueCents": 3999,
        "totalRefundedCents": 1999,
        "netRevenueCents": 2000,
        "conversionRate": 50,
        "revenuePerSubmissionCents": 500,
        "averageOrderValueCents": 1333,
        "multiSelect": True,
    }
    assert rows[3] == {
        "fieldId": "size",
        "value": None,
        "submissions": 4,
        "convertedSubmissions": 1,
        "orders": 1,
        "grossRevenueCents": 1000,
        "totalRefundedCents": 0,
        "netRevenueCents": 1000,
        "conversionRate": 25,
        "revenuePerSubmissionCents": 250,
        "averageOrderValueCents": 1000,
        "multiSelect": True,
    }
    assert rows[0]["multiSelect"] is False

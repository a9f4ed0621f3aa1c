"""Shopify's two exports of the same orders, row by row."""

import json
from hashlib import sha256
from typing import Any

import pytest

from tests.jobs.importing.conftest import Warehouse
from tests.support.import_files import SAMPLES, written

SHOP = "a.example"
# 2026-03-02T09:15:00Z and other instants of the samples, in microseconds.
ORDERED = 1772442900_000_000
SECONDS = 1_000_000


def hashed(address: str) -> str:
    return sha256(address.encode()).hexdigest()


def row(order_id: str, **more: Any) -> dict[str, Any]:
    """A row of raw_order, of which all that is not given is what most orders have."""
    plain = {
        "order_id": order_id,
        "updated_at": ORDERED + 3 * SECONDS,
        "created_at": ORDERED,
        "gross": 7990,
        "refunded": 0,
        "discounted": 0,
        "customer_id": "",
        "email_sha256": "",
        "visitor_id": "",
        "codes": "[]",
        "test": 0,
        "cancelled": 0,
        **dict.fromkeys(
            ("utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "utm_id"), ""
        ),
    }
    return plain | more


ADA = row(
    "5001",
    updated_at=1773039600 * SECONDS,
    refunded=3800,
    discounted=1289,
    customer_id="207119551",
    email_sha256=hashed("ada.byron@mail.example"),
    visitor_id="v-ada",
    codes='[["FRIEND",0,""],["GLOW10",799,""],["SHIPFREE",490,""]]',
    utm_source="facebook",
    utm_medium="paid_social",
    utm_campaign="Spring glow",
    utm_content="ad-7",
    utm_id="2385100",
)
GRACE = row(
    "5002",
    updated_at=1772524800 * SECONDS,
    refunded=7990,
    cancelled=1,
    email_sha256=hashed("grace@mail.example"),
)
A_TEST = row("5003", test=1, email_sha256=hashed("shop@a.example"))
# 33.33 of 100.00 USD, where the order's 100.00 USD are 92.00 EUR: 30.6636 EUR.
KIM = row(
    "5004",
    gross=9200,
    refunded=3066,
    customer_id="207119552",
    email_sha256=hashed("kim@mail.example"),
)
REASONS = [
    "currency: 'USD' is not the shop's currency (EUR)",
    "total_price: 'many' is not a number",
]


@pytest.fixture
def orders() -> list[dict[str, Any]]:
    """The orders of the REST sample."""
    found: list[dict[str, Any]] = json.loads((SAMPLES / "shopify.json").read_text())["orders"]
    return found


def stored(warehouse: Warehouse) -> list[dict[str, Any]]:
    found = warehouse.rows("SELECT * FROM raw_order ORDER BY order_id")
    return [{name: one[name] for name in row("")} for one in found]


def test_every_field_of_the_rest_api(warehouse: Warehouse) -> None:
    counts = warehouse.take_file("orders", SAMPLES / "shopify.json", shop=SHOP)
    assert counts == {
        "read": 6, "new": 4, "duplicate": 0, "replaced": 0, "rejected": 2, "rounded": 1,
    }  # fmt: skip
    assert stored(warehouse) == [ADA, GRACE, A_TEST, KIM]
    assert [reason for _, reason in warehouse.reasons()] == REASONS


def test_every_field_of_a_bulk_operation(warehouse: Warehouse) -> None:
    counts = warehouse.take_file("orders", SAMPLES / "shopify_bulk.jsonl", shop=SHOP)
    assert counts == {
        "read": 7, "new": 4, "duplicate": 0, "replaced": 0, "rejected": 3, "rounded": 1,
    }  # fmt: skip
    kim = KIM | {"utm_source": "newsletter", "utm_medium": "email", "utm_term": "march"}
    assert stored(warehouse) == [ADA, GRACE, A_TEST, kim]
    assert warehouse.reasons() == [
        (13, "currency: 'USD' is not the shop's currency (EUR)"),
        (14, "totalPriceSet: 'many' is not a number"),
        (19, "its order is not in the file"),
    ]


def test_an_order_is_the_same_by_either_way(sqlite_warehouse: Warehouse) -> None:
    for name, duplicates in (("shopify.json", 0), ("shopify_bulk.jsonl", 3)):
        counts = sqlite_warehouse.take_file("orders", SAMPLES / name, shop=SHOP)
        assert counts["duplicate"] == duplicates


def test_children_may_be_anywhere(sqlite_warehouse: Warehouse) -> None:
    lines = (SAMPLES / "shopify_bulk.jsonl").read_bytes().splitlines(keepends=True)
    file = written(sqlite_warehouse.folder / "backwards.jsonl.gz", b"".join(reversed(lines)))
    assert sqlite_warehouse.take_file("orders", file, shop=SHOP)["new"] == 4
    assert stored(sqlite_warehouse)[0] == ADA


@pytest.mark.parametrize("shape", ["list", "lines", "pages", "pretty pages", "webhooks"])
def test_every_shape_of_a_file(
    sqlite_warehouse: Warehouse, orders: list[dict[str, Any]], shape: str
) -> None:
    pages = [{"orders": orders[:2]}, {"orders": orders[2:], "next": {"page_info": "x"}}]
    text = {
        "list": json.dumps(orders),
        "lines": "\n".join(map(json.dumps, orders)),
        "pages": "\n".join(map(json.dumps, pages)),
        "pretty pages": "\n".join(json.dumps(page, indent=2) for page in pages),
        "webhooks": "\n".join(json.dumps({"order": order}) for order in orders),
    }[shape]
    file = written(sqlite_warehouse.folder / "orders.json", text.encode())
    assert sqlite_warehouse.take_file("orders", file, shop=SHOP)["new"] == 4
    assert stored(sqlite_warehouse)[0] == ADA


def test_amounts_have_the_decimals_of_their_currency(
    sqlite_warehouse: Warehouse, orders: list[dict[str, Any]]
) -> None:
    yen = orders[1] | {"currency": "JPY", "total_price_set": None, "total_discounts_set": None}
    amounts = [("1200", "0"), ("1200.0", "0.5"), (1200.5, 0.4)]
    rows = [
        yen | {"id": number, "total_price": total, "total_discounts": discount}
        for number, (total, discount) in enumerate(amounts)
    ]
    file = written(sqlite_warehouse.folder / "yen.ndjson", rows)
    counts = sqlite_warehouse.take_file("orders", file, shop="b.example")
    assert (counts["new"], counts["rounded"]) == (3, 3)
    found = sqlite_warehouse.rows("SELECT gross, discounted FROM raw_order ORDER BY order_id")
    assert [tuple(one.values()) for one in found] == [(1200, 0), (1200, 1), (1201, 0)]


def test_a_refund_in_a_currency_without_a_rate_is_rejected(
    sqlite_warehouse: Warehouse, orders: list[dict[str, Any]]
) -> None:
    kim = orders[3]
    nothing = {"amount": "0", "currency_code": "USD"}
    rows = [
        kim | {"presentment_currency": "GBP", "total_price_set": None},
        kim | {"total_price_set": kim["total_price_set"] | {"presentment_money": nothing}},
    ]
    file = written(sqlite_warehouse.folder / "in.ndjson", rows)
    sqlite_warehouse.take_file("orders", file, shop=SHOP)
    assert sqlite_warehouse.reasons() == [
        (1, "refunds.transactions.currency: 'USD' is none of the order's currencies"),
        (2, "total_price_set: has no rate for the refund"),
    ]


def test_nothing_personal_is_kept_of_a_reject(warehouse: Warehouse) -> None:
    for name in ("shopify.json", "shopify_bulk.jsonl"):
        warehouse.take_file("orders", SAMPLES / name, shop=SHOP)
    texts = [one["text"] for one in warehouse.rows("SELECT text FROM reject ORDER BY reject_id")]
    kept = " ".join(texts)
    for personal in ("mail.example", "Ada", "James", "7946", "203.0.113.7", "imasecretipod"):
        assert personal not in kept
    assert [text.count(hashed("far@mail.example")) for text in texts] == [1, 0, 1, 0, 0]

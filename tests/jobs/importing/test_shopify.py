"""Shopify's two exports of the same orders, row by row."""

import json
from typing import Any

import pytest

from tests.support.hashing import keyed, marked
from tests.support.import_files import SAMPLES, written
from tests.support.warehouse import Warehouse

SHOP = "a.example"
# 2026-03-02T09:15:00Z and other instants of the samples, in microseconds.
ORDERED = 1772442900_000_000
SECONDS = 1_000_000


def row(order_id: str, **more: Any) -> dict[str, Any]:
    """A row of raw_order, of which all that is not given is what most orders have."""
    plain = {
        "order_id": order_id,
        "updated_at": ORDERED + 3 * SECONDS,
        "created_at": ORDERED,
        "gross": 7990,
        "refunded": 0,
        "refunds": "[]",
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
    refunds='[["509562969",1772956800000000,3750],["509562970",1773039600000000,50]]',
    discounted=1289,
    customer_id="207119551",
    email_sha256=keyed("ada.byron@mail.example"),
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
    email_sha256=keyed("grace@mail.example"),
)
A_TEST = row("5003", test=1, email_sha256=keyed("shop@a.example"))
# 33.33 of 100.00 USD, where the order's 100.00 USD are 92.00 EUR: 30.6636 EUR.
KIM = row(
    "5004",
    gross=9200,
    refunded=3066,
    refunds='[["509562971",1772614800000000,3066]]',
    customer_id="207119552",
    email_sha256=keyed("kim@mail.example"),
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
    found = warehouse.records("SELECT * FROM raw_order ORDER BY order_id")
    return [{name: one[name] for name in row("")} for one in found]


def test_every_field_of_the_rest_api(warehouse: Warehouse) -> None:
    counts = warehouse.take_file("orders", SAMPLES / "shopify.json", shop=SHOP)
    assert counts == {
        "read": 6, "new": 4, "duplicate": 0, "replaced": 0, "rejected": 2, "rounded": 1,
    }  # fmt: skip
    assert stored(warehouse) == [ADA, GRACE, A_TEST, KIM]
    assert [reason for _, reason in warehouse.reasons()] == REASONS


def test_every_field_of_a_bulk_operation(warehouse: Warehouse) -> None:
    counts = warehouse.take_file("orders", SAMPLES / "shopify-bulk.jsonl", shop=SHOP)
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
    for name in ("shopify.json", "shopify-bulk.jsonl"):
        sqlite_warehouse.take_file("orders", SAMPLES / name, shop=SHOP)
    # All but Kim's, whose UTM parameters the REST API does not have.
    versions = "SELECT order_id FROM raw_order GROUP BY order_id HAVING COUNT(*) > 1"
    assert sqlite_warehouse.records(versions) == [{"order_id": "5004"}]


def test_children_may_be_anywhere(sqlite_warehouse: Warehouse) -> None:
    lines = (SAMPLES / "shopify-bulk.jsonl").read_bytes().splitlines(keepends=True)
    file = written(sqlite_warehouse.folder / "backwards.jsonl.gz", b"".join(reversed(lines)))
    assert sqlite_warehouse.take_file("orders", file, shop=SHOP)["new"] == 4
    assert stored(sqlite_warehouse)[0] == ADA


def test_an_order_that_comes_again_has_the_parts_that_follow_it(
    sqlite_warehouse: Warehouse,
) -> None:
    lines = (SAMPLES / "shopify-bulk.jsonl").read_text()
    later = lines.replace("2026-03-09T07:00:00Z", "2026-03-19T07:00:00Z")
    assert later != lines
    file = written(sqlite_warehouse.folder / "twice.jsonl", (lines + later).encode())
    sqlite_warehouse.take_file("orders", file, shop=SHOP)
    ada = [one for one in stored(sqlite_warehouse) if one["order_id"] == "5001"]
    assert len(ada) == 2
    assert {one["codes"] for one in ada} == {ADA["codes"]}
    assert {len(json.loads(one["refunds"])) for one in ada} == {2}


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
    found = sqlite_warehouse.records("SELECT gross, discounted FROM raw_order ORDER BY order_id")
    assert [tuple(one.values()) for one in found] == [(1200, 0), (1200, 1), (1201, 0)]


def test_a_refund_in_a_currency_without_a_rate_is_left_out(
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
        (
            1,
            "kept without refunds: refunds.transactions.currency: 'USD' is none of the order's currencies",
        ),
        (2, "kept without refunds: total_price_set: has no rate for the refund"),
    ]


def test_a_refund_of_nothing_needs_no_rate(
    sqlite_warehouse: Warehouse, orders: list[dict[str, Any]]
) -> None:
    kim = orders[3]
    refund = kim["refunds"][0]
    nothing = [refund["transactions"][0] | {"amount": amount} for amount in ("0.00", 0)]
    rows = [kim | {"total_price_set": None, "refunds": [refund | {"transactions": nothing}]}]
    file = written(sqlite_warehouse.folder / "in.ndjson", rows)
    counts = sqlite_warehouse.take_file("orders", file, shop=SHOP)
    assert (counts["new"], counts["rejected"], counts["rounded"]) == (1, 0, 0)
    (row,) = stored(sqlite_warehouse)
    assert (row["refunded"], row["refunds"]) == (0, '[["509562971",1772614800000000,0]]')


def lines(*changed: dict[str, Any]) -> list[dict[str, Any]]:
    """Grace's order of the bulk file, not cancelled, with a discount, and lines of its own."""
    records = map(json.loads, (SAMPLES / "shopify-bulk.jsonl").read_text().splitlines())
    grace = next(one for one in records if one.get("id") == "gid://shopify/Order/5002")
    grace |= {"cancelledAt": None, "totalDiscountsSet": {"shopMoney": {"amount": "10.0"}}}
    return [grace, *({"__parentId": grace["id"]} | one for one in changed)]


def take_lines(warehouse: Warehouse, *changed: dict[str, Any]) -> dict[str, Any]:
    """The row of that order with these lines."""
    file = written(warehouse.folder / "in.jsonl", lines(*changed))
    assert warehouse.take_file("orders", file, shop=SHOP)["new"] == 1
    (row,) = stored(warehouse)
    return row


@pytest.mark.parametrize(
    "shipping",
    [
        {"code": "STANDARD", "title": "Standard"},
        {"code": "STANDARD", "title": None, "discountAllocations": []},
        {"code": "STANDARD", "id": "gid://shopify/ShippingLine/1"},
        {"code": "STANDARD", "__typename": "ShippingLine"},
    ],
)
def test_a_line_of_shipping_is_no_discount_code(
    sqlite_warehouse: Warehouse, shipping: dict[str, Any]
) -> None:
    """The only code of the order has the order's whole discount."""
    row = take_lines(sqlite_warehouse, {"code": "GLOW10"}, shipping)
    assert row["codes"] == '[["GLOW10",1000,""]]'


def test_all_that_a_discount_code_can_have(sqlite_warehouse: Warehouse) -> None:
    application = {
        "__typename": "DiscountCodeApplication",
        "code": "GLOW10",
        "index": 0,
        "allocationMethod": "ACROSS",
        "targetSelection": "ALL",
        "targetType": "LINE_ITEM",
        "value": {"percentage": 10.0},
    }
    assert take_lines(sqlite_warehouse, application)["codes"] == '[["GLOW10",1000,""]]'


RETURN = {"id": "gid://shopify/Return/1"}


def refund_line(number: int, parent: str, amount: str | None, **more: Any) -> dict[str, Any]:
    total = {} if amount is None else {"totalRefundedSet": {"shopMoney": {"amount": amount}}}
    return {"id": f"gid://shopify/Refund/{number}", "__parentId": parent, **total, **more}


def test_refunds_under_returns_count_once(sqlite_warehouse: Warehouse) -> None:
    """In the file before their return, after it, and also among the refunds of the order."""
    at = "2026-03-04T09:00:00Z"
    order_id = "gid://shopify/Order/5002"
    row = take_lines(
        sqlite_warehouse,
        refund_line(1, RETURN["id"], "5.0", createdAt=at),
        RETURN,
        refund_line(2, RETURN["id"], "0.5", createdAt=at),
        refund_line(3, order_id, "20.0", createdAt=at),
        refund_line(3, RETURN["id"], None),
        refund_line(4, RETURN["id"], "99.0", createdAt=at),
        {
            "id": "gid://shopify/OrderTransaction/1",
            "kind": "REFUND",
            "status": "SUCCESS",
            "amountSet": {"shopMoney": {"amount": "7.0"}},
            "__parentId": "gid://shopify/Refund/4",
        },
    )
    assert row["refunds"] == (
        '[["1",1772614800000000,500],["2",1772614800000000,50],'
        '["3",1772614800000000,2000],["4",1772614800000000,700]]'
    )
    assert row["refunded"] == 3250


def test_refunds_that_cannot_be_placed_are_rejected(sqlite_warehouse: Warehouse) -> None:
    """A return that the file does not have, and a refund without an amount."""
    rows = lines(refund_line(1, "gid://shopify/Return/9", "5.0"), RETURN)
    rows.append(refund_line(2, RETURN["id"], None))
    file = written(sqlite_warehouse.folder / "in.jsonl", rows)
    counts = sqlite_warehouse.take_file("orders", file, shop=SHOP)
    assert (counts["rejected"], counts["incomplete"]) == (1, 1)
    assert sqlite_warehouse.reasons() == [
        (1, "kept without refunds: amount_cents: missing"),
        (2, "its order is not in the file"),
    ]


@pytest.mark.parametrize(
    ("left_out", "dated"),
    [
        ((), 1772614800),
        (("refund",), 1772524800),
        (("refund", "updated"), 1772442900),
    ],
)
@pytest.mark.parametrize("name", ["rest", "bulk"])
def test_a_refund_without_a_date_has_that_of_the_version(
    sqlite_warehouse: Warehouse,
    orders: list[dict[str, Any]],
    name: str,
    left_out: tuple[str, ...],
    dated: int,
) -> None:
    """Or else that of the order."""
    is_rest = name == "rest"
    created, updated = ("created_at", "updated_at") if is_rest else ("createdAt", "updatedAt")
    refund: dict[str, Any] = {created: "2026-03-04T09:00:00Z"}
    if is_rest:
        moved = {"kind": "refund", "status": "success", "amount": "5.00", "currency": "EUR"}
        order = orders[1] | {"cancelled_at": None}
        refund |= {"id": 1, "transactions": [moved]}
    else:
        order = lines()[0]
        refund |= {"id": "gid://shopify/Refund/1"}
        refund |= {"totalRefundedSet": {"shopMoney": {"amount": "5.0"}}}
    if "refund" in left_out:
        del refund[created]
    if "updated" in left_out:
        del order[updated]
    file = written(sqlite_warehouse.folder / "in.jsonl", [order | {"refunds": [refund]}])
    sqlite_warehouse.take_file("orders", file, shop=SHOP)
    (row,) = stored(sqlite_warehouse)
    assert row["refunds"] == f'[["1",{dated * SECONDS},500]]'


@pytest.mark.parametrize("order_id", ["", None])
def test_an_order_without_an_id_costs_itself_alone(
    sqlite_warehouse: Warehouse, order_id: str | None
) -> None:
    """It was taken for the parent of all orders."""
    order = lines()[0]
    odd = order | {"id": order_id, "discountApplications": None, "refunds": None}
    file = written(sqlite_warehouse.folder / "in.jsonl", [order, odd])
    assert sqlite_warehouse.take_file("orders", file, shop=SHOP)["new"] == 1
    assert sqlite_warehouse.reasons() == [(2, f"id: {order_id!r} is not the id of an order")]


def test_nothing_personal_is_kept_of_a_reject(warehouse: Warehouse) -> None:
    for name in ("shopify.json", "shopify-bulk.jsonl"):
        warehouse.take_file("orders", SAMPLES / name, shop=SHOP)
    texts = [one["text"] for one in warehouse.records("SELECT text FROM reject ORDER BY reject_id")]
    kept = " ".join(texts)
    for personal in ("mail.example", "Ada", "James", "7946", "203.0.113.7", "imasecretipod"):
        assert personal not in kept
    assert [text.count(marked("far@mail.example")) for text in texts] == [1, 0, 1, 0, 0]

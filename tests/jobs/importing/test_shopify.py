"""Shopify's two exports of the same orders, row by row.

One file for both: they share their rows, and an order must be the same by either way."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from jobs.importing.values.times import any_instant
from tests.support.hashing import keyed, marked
from tests.support.import_files import SAMPLES, written
from tests.support.warehouse import Warehouse

SHOP = "a.example"
# 2026-03-02T09:14:58Z and other instants of the samples, in microseconds. Their orders were created two
# seconds after they were placed, and so the versions are a microsecond later.
PLACED = 1772442898_000_000
CREATED = 1772442900_000_000
SECONDS = 1_000_000


def row(order_id: str, **more: Any) -> dict[str, Any]:
    """A row of raw_order, of which all that is not given is what most orders have."""
    plain = {
        "order_id": order_id,
        "updated_at": CREATED + 3 * SECONDS + 1,
        "created_at": PLACED,
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
    updated_at=1773039600 * SECONDS + 1,
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
    updated_at=1772524800 * SECONDS + 1,
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
    sums = (
        "total_price_set",
        "total_discounts_set",
        "current_total_price",
        "current_total_price_set",
    )
    yen = orders[1] | {"currency": "JPY"} | dict.fromkeys(sums)
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
    totals = dict.fromkeys(("total_price_set", "current_total_price", "current_total_price_set"))
    rows = [kim | totals | {"refunds": [refund | {"transactions": nothing}]}]
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


EDITED: dict[str, Any] = {
    "id": 9101,
    "created_at": "2026-03-02T10:15:00+01:00",
    "updated_at": "2026-03-05T12:00:00+01:00",
    "currency": "EUR",
    "total_price": "100.00",
    "current_total_price": "60.00",
}


def refund(number: int, day: int, *amounts: str, status: str = "success") -> dict[str, Any]:
    paid = [{"kind": "refund", "status": status, "amount": amount} for amount in amounts]
    at = f"2026-03-{day:02}T12:00:00+01:00"
    return {"id": number, "created_at": at, "transactions": paid}


def in_graphql(order: dict[str, Any]) -> dict[str, Any]:
    """An order of REST as the GraphQL API gives it: in UTC, with the sums of refunds."""

    def at(written: str) -> str:
        return any_time(written).astimezone(UTC).isoformat().replace("+00:00", "Z")

    def money(amount: str) -> dict[str, Any]:
        return {"shopMoney": {"amount": str(float(amount)), "currencyCode": order["currency"]}}

    said = {
        "id": f"gid://shopify/Order/{order['id']}",
        "createdAt": at(order["created_at"]),
        "updatedAt": at(order["updated_at"]),
        "totalPriceSet": money(order["total_price"]),
        "refunds": [
            {
                "id": f"gid://shopify/Refund/{one['id']}",
                "createdAt": at(one["created_at"]),
                "totalRefundedSet": money(
                    str(
                        sum(
                            float(t["amount"])
                            for t in one["transactions"]
                            if t["status"] == "success"
                        )
                    )
                ),
            }
            for one in order.get("refunds", [])
        ],
    }
    if "processed_at" in order:
        said["processedAt"] = at(order["processed_at"])
    if "current_total_price" in order:
        said["currentTotalPriceSet"] = money(order["current_total_price"])
    return said


any_time = datetime.fromisoformat
DAY_5 = 1772708400 * SECONDS  # 2026-03-05T11:00:00Z
DAY_3 = DAY_5 - 2 * 86400 * SECONDS


@pytest.mark.parametrize(
    ("changes", "refunded", "refunds"),
    [
        # A line was removed before it was paid, with and without a record of it.
        ({"refunds": [refund(77, 3)]}, 4000, [["77", DAY_3, 0], ["removed", DAY_3, 4000]]),
        ({}, 4000, [["removed", DAY_5, 4000]]),
        # Two edits; and a refund whose payment failed.
        (
            {"refunds": [refund(78, 5), refund(77, 3, "5.00", status="failure")]},
            4000,
            [["77", DAY_3, 0], ["78", DAY_5, 0], ["removed", DAY_5, 4000]],
        ),
        # An exchange of 100 in an order of 250.
        (
            {"total_price": "350.00", "current_total_price": "250.00", "refunds": [refund(77, 3)]},
            10000,
            [["77", DAY_3, 0], ["removed", DAY_3, 10000]],
        ),
        # The removed amount was partly paid back; wholly; and more was, out of goodwill.
        (
            {"refunds": [refund(1, 3, "30.00")]},
            4000,
            [["1", DAY_3, 3000], ["removed", DAY_5, 1000]],
        ),
        ({"refunds": [refund(1, 3, "30.00", "10.00")]}, 4000, [["1", DAY_3, 4000]]),
        ({"refunds": [refund(1, 3, "55.00")]}, 5500, [["1", DAY_3, 5500]]),
        # A line was added; all was removed; nothing was.
        ({"current_total_price": "130.00"}, 0, []),
        ({"current_total_price": "0.00"}, 10000, [["removed", DAY_5, 10000]]),
        ({"current_total_price": "100.00"}, 0, []),
    ],
)
def test_what_an_edit_removes_is_refunded(
    warehouse: Warehouse, changes: dict[str, Any], refunded: int, refunds: list[Any]
) -> None:
    """The same in every API: one order, one version, one refund of an id."""
    order = EDITED | changes
    files = {
        "rest.json": {"orders": [order]},
        "webhook.ndjson": order,
        "bulk.jsonl": in_graphql(order),
        "query.json": {"data": {"orders": {"edges": [{"node": in_graphql(order)}]}}},
    }
    counted = []
    for name, content in files.items():
        file = written(warehouse.folder / name, json.dumps(content).encode())
        counts = warehouse.take_file("orders", file, shop=SHOP)
        counted.append((counts["new"], counts["duplicate"]))
    assert counted == [(1, 0), (0, 1), (0, 1), (0, 1)]
    (row,) = stored(warehouse)
    assert (row["gross"], row["refunded"]) == (
        int(order["total_price"].removesuffix(".00")) * 100,
        refunded,
    )
    assert json.loads(row["refunds"]) == sorted(refunds, key=lambda refund: (refund[1], refund[0]))


def test_a_later_version_has_its_own_removals(sqlite_warehouse: Warehouse) -> None:
    """The removed amount is refunded later, and then something is added."""
    versions = [
        EDITED,
        EDITED | {"updated_at": "2026-03-06T12:00:00Z", "refunds": [refund(1, 5, "40.00")]},
        EDITED | {"updated_at": "2026-03-07T12:00:00Z", "current_total_price": "80.00"},
    ]
    for version in versions:
        file = written(sqlite_warehouse.folder / "in.ndjson", [version])
        sqlite_warehouse.take_file("orders", file, shop=SHOP)
    found = sqlite_warehouse.records("SELECT refunds, refunded FROM raw_order ORDER BY updated_at")
    assert [row["refunded"] for row in found] == [4000, 4000, 2000]
    assert [json.loads(row["refunds"])[0][0] for row in found] == ["removed", "1", "removed"]


@pytest.mark.parametrize(
    ("processed", "placed"),
    [
        ("2026-02-03T10:00:00Z", "2026-02-03T10:00:00Z"),
        # The order is still to be processed, or has no such time.
        ("0000-00-00 00:00:00", EDITED["created_at"]),
        ("2100-01-01", EDITED["created_at"]),
        ("1970-01-01", EDITED["created_at"]),
        ("", EDITED["created_at"]),
        (None, EDITED["created_at"]),
    ],
)
def test_an_order_was_placed_when_it_was_processed(
    sqlite_warehouse: Warehouse, processed: str | None, placed: str
) -> None:
    rows = [EDITED | {"processed_at": processed}]
    file = written(sqlite_warehouse.folder / "in.ndjson", rows)
    assert sqlite_warehouse.take_file("orders", file, shop=SHOP)["new"] == 1
    assert stored(sqlite_warehouse)[0]["created_at"] == any_instant(placed)


# So it is for an order without `updated_at`: its version is when it was created here.
@pytest.mark.parametrize("left_out", [(), ("updated_at",)])
@pytest.mark.parametrize("graphql", [False, True])
def test_what_an_old_release_read_gives_way_to_the_same_file(
    warehouse: Warehouse, left_out: tuple[str, ...], graphql: bool
) -> None:
    """Up to 0.1 an order was read as one without these members. It stands in neither order of arrival."""
    orders = [
        {name: value for name, value in one.items() if name not in left_out}
        for number in range(20)
        for one in [EDITED | {"id": number, "processed_at": f"2026-02-{number + 1:02}T10:00:00Z"}]
    ]
    unread = {"processed_at", "current_total_price"}
    as_once = [{name: value for name, value in one.items() if name not in unread} for one in orders]
    if graphql and not left_out:
        orders, as_once = [list(map(in_graphql, some)) for some in (orders, as_once)]

    def figures() -> list[tuple[int, ...]]:
        standing = "NOT EXISTS (SELECT 1 FROM raw_order n WHERE n.shop_key = r.shop_key "
        standing += "AND n.order_id = r.order_id AND (n.updated_at, n.precedence, n.content) "
        standing += "> (r.updated_at, r.precedence, r.content))"
        found = warehouse.records(
            f"SELECT created_at, gross, refunded FROM raw_order r WHERE {standing} ORDER BY created_at"
        )
        return [tuple(row.values()) for row in found]

    files = [
        written(warehouse.folder / name, some)
        for name, some in (("once.jsonl", as_once), ("now.jsonl", orders))
    ]
    for file in (*files, files[0]):
        warehouse.take_file("orders", file, shop=SHOP)
    assert [refunded for _, _, refunded in figures()] == [4000] * 20
    assert figures()[0][0] == any_instant("2026-02-01T10:00:00Z")
    assert figures()[-1][0] == any_instant("2026-02-20T10:00:00Z")
    assert warehouse.take_file("orders", files[1], shop=SHOP)["duplicate"] == 20


def test_an_old_file_that_is_read_as_before_has_no_new_versions(
    sqlite_warehouse: Warehouse,
) -> None:
    order = EDITED | {"current_total_price": None}
    same = {"processed_at": "2026-03-02T09:15:00Z", "current_total_price": "100.00"}
    for row, is_new in ((order, 1), (order | same, 0)):
        file = written(sqlite_warehouse.folder / "in.ndjson", [row])
        assert sqlite_warehouse.take_file("orders", file, shop=SHOP)["new"] == is_new

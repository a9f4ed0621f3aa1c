"""Ids, answers and campaign parameters that are e-mail addresses are stored as hashes, and counted."""

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from jobs.importing.rejects import retry_rejects
from tests.jobs.importing.conftest import NewWarehouse
from tests.support.hashing import keyed, marked
from tests.support.import_files import Row, answer, event, order, spend
from tests.support.warehouse import Warehouse
from warehouse.connections.arrow import open_arrow
from warehouse.domain.addresses import sole_address
from warehouse.domain.email_hash import plain_mark

ADA, BEA = "ada@mail.example", "bea@mail.example"
A, B = marked(ADA), marked(BEA)
UTMS = ("utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "utm_id")
IDS = ("event_id", "form_session_id", "visitor_id", "customer_id", "discount_id", "variant", *UTMS)
FILES = ["in.ndjson", "in.csv", "in.parquet"]


@pytest.mark.parametrize("name", FILES)
def test_ids_and_campaign_parameters_of_events(sqlite_warehouse: Warehouse, name: str) -> None:
    row = event(**dict.fromkeys(IDS, " Ada@Mail.example"), discount_code=ADA, step_name=ADA)
    assert sqlite_warehouse.take("events", [row, event()], name)["hashed_addresses"] == len(IDS) + 1
    (stored,) = sqlite_warehouse.records("SELECT * FROM raw_event WHERE event_id <> 'e1'")
    assert {field: stored[field] for field in IDS} == dict.fromkeys(IDS, A)
    assert stored["discount_code"] == A.upper()
    assert stored["step_name"] == ADA, "a name is stored as it is"


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    ("value", "field_type", "stored", "hashed"),
    [
        (ADA, "choice", A, 1),
        (f" {ADA.upper()} ", "choice", A, 1),
        ([ADA, "x", BEA, ADA.title()], "multi_choice", sorted([A, B, "x"]), 2),
        (f"not {ADA}", "choice", f"not {ADA}", 0),
        ("S@M", "choice", "S@M", 0),
        (ADA, "text", "", 0),
    ],
)
def test_choices(
    sqlite_warehouse: Warehouse, name: str, value: Any, field_type: str, stored: Any, hashed: int
) -> None:
    counts = sqlite_warehouse.take("events", [answer(value, field_type)], name)
    assert counts.get("hashed_addresses", 0) == hashed
    (row,) = sqlite_warehouse.records("SELECT value FROM raw_event")
    assert (json.loads(row["value"]) if row["value"] else "") == stored


@pytest.mark.parametrize("name", FILES)
def test_what_orders_carry(sqlite_warehouse: Warehouse, name: str) -> None:
    refund = {"created_at": "2026-01-03", "amount_cents": 5}
    row = order(
        order_id=ADA,
        customer_id=ADA,
        email=ADA,
        visitor_id=ADA,
        utm_term=ADA,
        refunds=[refund | {"refund_id": ADA}, refund | {"refund_id": ADA.upper()}],
        discount_codes=[
            {"code": ADA, "amount_cents": 1},
            {"code": ADA.title(), "amount_cents": 2, "discount_id": ADA},
        ],
    )
    counts = sqlite_warehouse.take("orders", [row], name)
    assert counts["hashed_addresses"] == 7
    (stored,) = sqlite_warehouse.records("SELECT * FROM raw_order")
    names = ("order_id", "customer_id", "visitor_id", "utm_term")
    assert {stored[name] for name in names} == {A}
    assert stored["email_sha256"] == keyed(ADA)
    assert [item[0] for item in json.loads(stored["refunds"])] == [A]
    assert json.loads(stored["codes"]) == [[A.upper(), 3, A]]
    assert (stored["refunded"], stored["gross"]) == (5, 1000)


def test_ids_of_other_kinds(sqlite_warehouse: Warehouse) -> None:
    counts = sqlite_warehouse.take("ad-spend", [spend(campaign_id=ADA, campaign_name=ADA)])
    assert counts["hashed_addresses"] == 1
    assert sqlite_warehouse.records("SELECT campaign_id FROM ad_spend") == [{"campaign_id": A}]


def test_equal_addresses_stay_equal(sqlite_warehouse: Warehouse) -> None:
    """However they are written, and if the collector has hashed them."""
    written = [
        ADA,
        "ADA@mail.example ",
        "ada%40mail.example",
        "ada＠mail.example",
        plain_mark(ADA),
        A,
    ]
    rows = [event(event_id=str(n), visitor_id=text) for n, text in enumerate(written)]
    sqlite_warehouse.take("events", [*rows, event(event_id="bea", visitor_id=BEA)])
    found = sqlite_warehouse.records(
        "SELECT visitor_id, COUNT(*) AS n FROM raw_event GROUP BY 1 ORDER BY 2"
    )
    assert found == [{"visitor_id": B, "n": 1}, {"visitor_id": A, "n": len(written)}]


def test_an_event_is_a_duplicate_by_the_hash_of_its_id(sqlite_warehouse: Warehouse) -> None:
    rows = [event(event_id=ADA), event(event_id=ADA.upper())]
    counts = sqlite_warehouse.take("events", rows)
    assert (counts["new"], counts["duplicate"], counts["hashed_addresses"]) == (1, 1, 2)
    again = sqlite_warehouse.take("events", rows[::-1])
    assert (again["new"], again["duplicate"]) == (0, 2)


def test_only_accepted_rows_count(sqlite_warehouse: Warehouse) -> None:
    rows = [event(visitor_id=ADA, type="x"), event(event_id="2", shop_id="x", utm_term=BEA)]
    assert "hashed_addresses" not in sqlite_warehouse.take("events", rows)


@pytest.mark.parametrize(
    "text", [ADA, f"\t{ADA} ", "Ada@Mail.Example", "çem@mäil.example", "a.b+c@d-e.co"]
)
def test_addresses(text: str) -> None:
    assert sole_address(text) == text.strip().lower()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "@",
        "a@b",
        "promo@home",
        "iphone@2.0",
        "2@3.50",
        "a@1.2.3.4",
        "@ada.example",
        "ada@",
        "ada@.de",
    ]
    + [
        f"mailto:{ADA}",
        f"<{ADA}>",
        f"{ADA},{BEA}",
        f"{ADA} x",
        f"a=b {ADA}",
        "a" * 250 + "@mail.example",
    ],
)
def test_what_is_no_address_alone(text: str) -> None:
    assert sole_address(text) == ""


PRIVATE: list[Row] = [
    event(event_id="1", email=ADA, visitor_id=ADA, customer_id=f" {BEA.upper()}"),
    event(event_id=ADA, email_sha256=sha256(ADA.encode()).hexdigest(), utm_content=BEA),
    event(event_id="3", email=plain_mark(ADA), visitor_id=plain_mark(BEA), discount_code=ADA),
    answer([ADA, "x"], "multi_choice", event_id="4", email=BEA),
    answer(
        [ADA], "multi_choice", event_id="5", email_sha256=sha256(BEA.encode()).hexdigest().upper()
    ),
]
ORDERS: list[Row] = [
    order(
        order_id=ADA,
        customer_id=BEA,
        email=ADA,
        discount_codes=[{"code": BEA, "discount_id": ADA}, {"code": ADA}],
        refunds=[{"refund_id": ADA, "created_at": "2026-01-03", "amount_cents": 5}],
    ),
    order(order_id="2", email_sha256=sha256(BEA.encode()).hexdigest(), utm_term=ADA),
]
STORED = {
    "events": "SELECT {} FROM raw_event ORDER BY event_id",
    "orders": "SELECT {} FROM raw_order ORDER BY order_id",
}


def everything(warehouse: Warehouse, kind: str) -> list[dict[str, Any]]:
    rows = warehouse.records(STORED[kind].format("*"))
    return [{name: value for name, value in row.items() if name != "batch_id"} for row in rows]


def retry(warehouse: Warehouse) -> dict[str, int]:
    with open_arrow(warehouse.url) as connection:
        return retry_rejects(connection).report()


def by_file(warehouse: Warehouse) -> dict[str, int]:
    """The kept texts, taken as a file of somebody who has mended their cause."""
    kinds = warehouse.records("SELECT DISTINCT kind FROM reject")
    texts = warehouse.records("SELECT text FROM reject ORDER BY line")
    return warehouse.take(kinds[0]["kind"], "\n".join(row["text"] for row in texts).encode())


@pytest.mark.parametrize(
    ("name", "again"), [*((name, retry) for name in FILES), ("in.ndjson", by_file)]
)
@pytest.mark.parametrize(("kind", "rows"), [("events", PRIVATE), ("orders", ORDERS)])
def test_a_retry_stores_the_same(
    new_warehouse: NewWarehouse,
    name: str,
    again: Callable[[Warehouse], dict[str, int]],
    kind: str,
    rows: list[Row],
) -> None:
    mended, straight = new_warehouse(), new_warehouse()
    unknown = [row | {"shop_id": "x.example"} for row in rows]
    assert mended.take(kind, unknown, name)["rejected"] == len(rows)
    for warehouse in (mended, straight):
        warehouse.take("shops", [{"shop_id": "x.example", "currency": "EUR"}])
    expected = straight.take(kind, unknown, name)
    assert expected["new"] == len(rows)
    counts = again(mended)
    assert counts["new"] == len(rows)
    assert counts["hashed_addresses"] == expected["hashed_addresses"]
    stored, expected_rows = everything(mended, kind), everything(straight, kind)
    for row in expected_rows:
        # A kept text has the keyed hash of the e-mail in its place, and so no byte of the plain one.
        if "precedence" in row:
            row["precedence"] = row["precedence"][:32]
    assert stored == expected_rows

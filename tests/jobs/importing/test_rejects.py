"""Rows that cannot be taken: a reason for each, the rest of the file imported, nothing private kept."""

# ruff: noqa: E501 (one case a line)

import json
from typing import Any

import pytest

from tests.support.import_files import FORM, NO_UUID, answer, as_ndjson, event, order, told
from tests.support.warehouse import Warehouse
from warehouse.domain.vocabulary import KEPT_WITHOUT

LONG = "x" * 256

EVENTS: list[tuple[dict[str, Any], str]] = [
    (event(event_id=""), "event_id: missing"),
    (
        event(event_id=LONG),
        "event_id: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' is longer than 255 characters",
    ),
    (event(event_id="a\0b"), "event_id: has a NUL character"),
    (event(event_id=True), "event_id: true is not a text"),
    (event(event_id=["a"]), "event_id: a list is not a text"),
    (event(event_id={"a": 1}), "event_id: an object is not a text"),
    (event(event_id=5.5), "event_id: 5.5 is not a whole number"),
    (event(event_id=2**63), "event_id: 9223372036854775808 is beyond 64 bits"),
    (
        event(shop_id="nobody.example"),
        "shop_id: 'nobody.example' is not an imported shop; import it first (kind shops)",
    ),
    (event(shop_id=""), "shop_id: missing"),
    (event(form_id=""), "form_id: missing"),
    (
        event(form_id="0190c4a25b7e7c3d8f1a2b3c4d5e6f70"),
        "form_id: '0190c4a25b7e7c3d8f1a2b3c4d5e6f70'" + NO_UUID,
    ),
    (
        event(form_id=f"{{{FORM}}}"),
        "form_id: '{0190c4a2-5b7e-7c3d-8f1a-2b3c4d5e6f70}'" + NO_UUID,
    ),
    (
        event(form_id=f"urn:uuid:{FORM}"),
        "form_id: 'urn:uuid:0190c4a2-5b7e-7c3d-8f1a-2b3c4d5e6f70'" + NO_UUID,
    ),
    (event(form_session_id=""), "form_session_id: missing"),
    (event(visitor_id=""), "visitor_id: missing"),
    (
        event(type="click"),
        "type: 'click' is none of view, start, step_view, step_complete, answer, subscribe, complete",
    ),
    (event(type=""), "type: missing"),
    (
        event(type="View"),
        "type: 'View' is none of view, start, step_view, step_complete, answer, subscribe, complete",
    ),
    (event(occurred_at=""), "occurred_at: missing"),
    (
        event(occurred_at="yesterday"),
        "occurred_at: 'yesterday' is not an ISO 8601 time; an example is 2026-01-31T23:59:59Z",
    ),
    (
        event(occurred_at="2026-02-30T00:00:00Z"),
        "occurred_at: '2026-02-30T00:00:00Z' is not an ISO 8601 time; an example is 2026-01-31T23:59:59Z",
    ),
    (
        event(occurred_at=1767323045),
        "occurred_at: 1767323045 is not an ISO 8601 time; an example is 2026-01-31T23:59:59Z",
    ),
    (
        event(occurred_at="1999-12-31T23:59:59.999Z"),
        "occurred_at: '1999-12-31T23:59:59.999Z' is before 2000 or after 2100",
    ),
    (
        event(occurred_at="2101-01-01T00:00:00Z"),
        "occurred_at: '2101-01-01T00:00:00Z' is before 2000 or after 2100",
    ),
    (event(type="step_view", step_index=1), "step_id: missing"),
    (event(type="step_complete", step_id="s"), "step_index: missing"),
    (event(type="step_view", step_id="s", step_index=-1), "step_index: -1 is negative"),
    (event(type="step_view", step_id="s", step_index=1.5), "step_index: 1.5 is not a whole number"),
    (event(type="step_view", step_id="s", step_index=True), "step_index: true is not a number"),
    (
        event(type="step_view", step_id="s", step_index="1"),
        "step_index: '1' is a text, not a number; write it without quotes",
    ),
    (
        event(type="step_view", step_id="s", step_index=2**63),
        "step_index: 9223372036854775808 is beyond 64 bits",
    ),
    (answer("a") | {"field_id": ""}, "field_id: missing"),
    (answer("a", ""), "field_type: missing"),
    (answer(""), "value: missing"),
    (answer(None), "value: missing"),
    (answer({"a": 1}), "value: not a text, number, boolean or list of them"),
    (answer([["a"]]), "value: not a text, number, boolean or list of them"),
    (answer(["a", {}]), "value: not a text, number, boolean or list of them"),
    (answer(2**63), "value: beyond 64 bits"),
    (answer(-(2**63) - 1), "value: beyond 64 bits"),
    (answer(1e300), "value: beyond 64 bits"),
    (answer([1, 2**64]), "value: beyond 64 bits"),
    (answer("a\0b"), "value: has a NUL character"),
    (
        event(customer_id=LONG),
        "customer_id: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' is longer than 255 characters",
    ),
    (
        event(discount_code=LONG),
        "discount_code: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' is longer than 255 characters",
    ),
    (event(utm_source="a\0"), "utm_source: has a NUL character"),
    (event(utm_source=True), "utm_source: true is not a text"),
    (event(utm_term=1e20), "utm_term: 1E+20 is beyond 64 bits"),
    (event(step_name="a\0"), "step_name: has a NUL character"),
    (event(email=["a@b.cd"]), "email: not a text"),
    (
        event(email_sha256="12"),
        "email_sha256: not 64 hexadecimal digits (SHA-256 of the address in lower case)",
    ),
    (
        event(email_sha256="zz" * 32),
        "email_sha256: not 64 hexadecimal digits (SHA-256 of the address in lower case)",
    ),
]
ORDERS: list[tuple[dict[str, Any], str]] = [
    (order(order_id=""), "order_id: missing"),
    (
        order(order_id=LONG),
        "order_id: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' is longer than 255 characters",
    ),
    (order(order_id=5.5), "order_id: 5.5 is not a whole number"),
    (
        order(shop_id="nobody.example"),
        "shop_id: 'nobody.example' is not an imported shop; import it first (kind shops)",
    ),
    (
        order(created_at="1999-12-31T23:59:59Z"),
        "created_at: '1999-12-31T23:59:59Z' is before 2000 or after 2100",
    ),
    (order(created_at=""), "created_at: missing"),
    (
        order(updated_at="soon"),
        "updated_at: 'soon' is not an ISO 8601 time; an example is 2026-01-31T23:59:59Z",
    ),
    (
        order(cancelled_at="soon"),
        "cancelled_at: 'soon' is not an ISO 8601 time; an example is 2026-01-31T23:59:59Z",
    ),
    (order(currency="USD"), "currency: 'USD' is not the shop's currency (EUR)"),
    (order(total_cents=""), "total_cents: missing"),
    (order(total_cents=-1), "total_cents: -1 is negative"),
    (order(total_cents=10.5), "total_cents: 10.5 is not a whole number"),
    (order(total_cents="10"), "total_cents: '10' is a text, not a number; write it without quotes"),
    (order(total_cents=2**63), "total_cents: 9223372036854775808 is beyond 64 bits"),
    (order(discount_cents=-1), "discount_cents: -1 is negative"),
    (order(discount_cents=1e300), "discount_cents: 1E+300 is beyond 64 bits"),
    (order(test="maybe"), "test: 'maybe' is neither true nor false"),
    (order(test=2), "test: 2 is neither true nor false"),
    (order(test=[True]), "test: a list is neither true nor false"),
    (order(discount_codes="SAVE"), "discount_codes: 'SAVE' is not a list of objects"),
    (
        order(discount_codes=["SAVE"]),
        "discount_codes: the list has an element that is not an object",
    ),
    (order(discount_codes=[{}]), "discount_codes: code: missing"),
    (
        order(discount_codes=[{"code": LONG}]),
        "discount_codes: code: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' is longer than 255 characters",
    ),
    (
        order(discount_codes=[{"code": "a", "amount_cents": 0.5}]),
        "discount_codes: amount_cents: 0.5 is not a whole number",
    ),
    (order(discount_codes=[{"code": 5.5}]), "discount_codes: code: 5.5 is not a whole number"),
    (order(discount_codes=[{"code": True}]), "discount_codes: code: true is not a text"),
    (order(discount_codes=[{"code": "a\0"}]), "discount_codes: code: has a NUL character"),
    (
        order(discount_codes=[{"code": "a", "amount_cents": 2**62}] * 2),
        "discount_codes: amount_cents: the sum of a code is beyond 64 bits",
    ),
    (order(refunds={}), "refunds: an object is not a list of objects"),
    (order(refunds=[None]), "refunds: the list has an element that is not an object"),
    (
        order(refunds=[{"refund_id": "r", "created_at": "1990-01-01", "amount_cents": 1}]),
        "refunds: created_at: '1990-01-01' is before 2000 or after 2100",
    ),
    (
        order(refunds=[{"refund_id": "r", "created_at": "2026-01-02", "amount_cents": 1e300}]),
        "refunds: amount_cents: 1E+300 is beyond 64 bits",
    ),
    (
        order(refunds=[{"created_at": "2026-01-02", "amount_cents": 1}]),
        "refunds: refund_id: missing",
    ),
    (order(refunds=[{"refund_id": "r", "amount_cents": 1}]), "refunds: created_at: missing"),
    (
        order(refunds=[{"refund_id": "r", "created_at": "2026-01-02"}]),
        "refunds: amount_cents: missing",
    ),
    (
        order(refunds=[{"refund_id": "r", "created_at": "2026-01-02", "amount_cents": -5}]),
        "refunds: amount_cents: -5 is negative",
    ),
]


@pytest.mark.parametrize(("kind", "cases"), [("events", EVENTS), ("orders", ORDERS)])
def test_each_reason_and_the_rest_is_taken(
    warehouse: Warehouse, kind: str, cases: list[tuple[dict[str, Any], str]]
) -> None:
    good = event(event_id="good") if kind == "events" else order(order_id="good")
    rows = [good, *(row for row, _ in cases)]
    counts = warehouse.take(kind, rows)
    reasons = [told(kind, *case) for case in cases]
    assert warehouse.reasons() == list(enumerate(reasons, 2))
    incomplete = sum(reason.startswith(KEPT_WITHOUT) for reason in reasons)
    assert (counts["read"], counts["rejected"]) == (len(rows), len(cases) - incomplete)
    assert counts.get("incomplete", 0) == incomplete
    assert warehouse.take(kind, rows)["rejected"] == counts["rejected"]
    assert len(warehouse.reasons()) == len(cases), "the same rejects do not pile up"


def test_lines_that_are_no_rows(warehouse: Warehouse) -> None:
    lines = [
        b"\xef\xbb\xbf" + as_ndjson([event(event_id="1")]).strip() + b"\r",
        b"",
        b"{broken",
        b"[1]",
        b'{"event_id": "\xff"}',
        b'{"event_id": ' + b"9" * 5000 + b"}",
        b'{"event_id": "a\0"}',
        b'{"event_id": "\\ud800"}',
        b"  " + as_ndjson([event(event_id="2")]).strip() + b"  ",
    ]
    counts = warehouse.take("events", b"\n".join(lines))
    assert counts["new"] == 2
    assert warehouse.reasons() == [
        (3, "not JSON"),
        (4, "not a JSON object"),
        (5, "not UTF-8"),
        (6, "a number is out of range"),
        (7, "not JSON"),
        (8, "not JSON"),
    ]
    assert counts["read"] == 8
    texts = [row["text"] for row in warehouse.records("SELECT text FROM reject ORDER BY line")]
    assert set(texts) == {"***"}, "nothing is kept of what cannot be parsed"


def test_a_rejected_row_may_hold_any_bytes_where_nobody_reads_them(
    sqlite_warehouse: Warehouse,
) -> None:
    rows = [event(event_id="1", type="?"), event(event_id="2")]
    lines = [line[:-1] + b', "note": "\xff"}' for line in as_ndjson(rows).splitlines()]
    counts = sqlite_warehouse.take("events", b"\n".join(lines))
    assert (counts["new"], counts["rejected"]) == (1, 1)
    (text,) = (row["text"] for row in sqlite_warehouse.records("SELECT text FROM reject"))
    assert json.loads(text) == rows[0]


def test_the_text_is_the_line_as_it_was(sqlite_warehouse: Warehouse) -> None:
    line = b'{"event_id":   "e9", "value": [1, 2.50], "field_type": "choice"}'
    sqlite_warehouse.take("events", line + b"\n")
    assert sqlite_warehouse.records("SELECT kind, line, text FROM reject") == [
        {"kind": "events", "line": 1, "text": line.decode()}
    ]


def test_csv_records_that_are_no_rows(sqlite_warehouse: Warehouse) -> None:
    row = event()
    header = ",".join(row) + ",field_type,value\r\n"
    good = ",".join(row.values()) + ",,\r\n"
    text = (
        header
        + good.replace("e1", '"é\n1"')
        + "\r\n"
        + good.replace("e1", "e2").replace(",,\r", ",,,\r")
        + "short,row\r\n"
        + good.replace("e1", "e3").replace("view", '"vi"ew')
        + good.replace("e1", "e\xff4")
        + good.replace("e1", "e5")
        + "," * 8
        + "\r\n"
        + good.replace("e1", '"e6')
        + good.replace("e1", "e7")
    )
    counts = sqlite_warehouse.take("events", text.encode().replace("ÿ".encode(), b"\xff"), "in.csv")
    assert counts["new"] == 3
    assert sqlite_warehouse.reasons() == [
        (5, "10 cells, but the header has 9"),
        (6, "2 cells, but the header has 9"),
        (7, "not CSV: ',' expected after '\"'"),
        (8, "not UTF-8"),
        (10, "shop_id: missing"),
        (11, "not CSV: unexpected end of data"),
    ]

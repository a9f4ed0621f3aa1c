"""A field that a row may have and that cannot be used costs itself alone: the row is taken without it,
counted, listed, and mended by a retry once it can be used."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobs.importing.rejects import retry_rejects
from tests.support.import_files import answer, event, form, order, spend, written
from tests.support.warehouse import Warehouse
from warehouse.connections.arrow import open_arrow
from warehouse.domain.time import MICROS_PER_DAY

LONG = "x" * 300
CODES: list[Any] = [
    [{"code": "", "amount_cents": 5}],
    [{"code": None}],
    [{"code": " "}],
    ["SAVE10"],
    "SAVE10",
    [{"code": "a", "amount_cents": -1}],
    [{"code": LONG}, {"code": "ok"}],
]


def shopify(**more: Any) -> dict[str, Any]:
    row = {"id": 1, "created_at": "2026-10-05T09:00:00Z", "currency": "EUR", "total_price": "10.00"}
    return row | more


def taken(warehouse: Warehouse, rows: list[dict[str, Any]], shop: str | None = None) -> list[str]:
    """The reasons, after an import that takes all rows."""
    numbered = [row | {"order_id" if shop is None else "id": 100 + n} for n, row in enumerate(rows)]
    content = numbered if shop is None else json.dumps({"orders": numbered}).encode()
    path = written(warehouse.folder / ("in.ndjson" if shop is None else "in.json"), content)
    counts = warehouse.take_file("orders", path, shop)
    assert (counts["new"], counts["rejected"]) == (len(rows), 0)
    assert counts["incomplete"] == len(rows)
    assert {line for line, _ in warehouse.reasons()} == set(range(1, len(rows) + 1))
    return [reason for _, reason in warehouse.reasons()]


def test_codes_of_an_order(warehouse: Warehouse) -> None:
    reasons = taken(warehouse, [order(discount_codes=codes) for codes in CODES])
    assert reasons[0] == "kept without discount_codes: code: missing"
    kept = warehouse.rows("SELECT codes FROM raw_order ORDER BY order_id")
    assert [json.loads(codes) for codes in kept[-2:]] == [[["A", 0, ""]], [["OK", 0, ""]]]


def test_members_of_a_shopify_order(sqlite_warehouse: Warehouse) -> None:
    def refund(**more: Any) -> dict[str, Any]:
        paid = {"kind": "refund", "status": "success", "amount": "5.00", **more}
        return {"id": 9, "created_at": "2026-10-06T09:00:00Z", "transactions": [paid]}

    rows = [
        shopify(discount_codes="SAVE10"),
        shopify(discount_codes=[{"code": "", "amount": "5.00"}]),
        shopify(discount_codes=[{"code": None}]),
        shopify(discount_codes=[{"code": "a", "amount": "much"}]),
        shopify(refunds=[refund(amount="-5.00")]),
        shopify(refunds=[refund(amount="much"), refund() | {"id": 10}]),
        shopify(refunds=[refund(currency="GBP")]),
        shopify(refunds={"id": 1}),
        shopify(cancelled_at="0000-00-00 00:00:00"),
        shopify(updated_at="0000-00-00"),
        shopify(email="n/a"),
        shopify(email=["a@b.example"]),
        shopify(customer={"id": LONG}),
        shopify(note_attributes=[{"name": "visitor_id", "value": LONG}]),
        shopify(total_discounts="much"),
        shopify(total_discounts="-1.00"),
        shopify(test="perhaps"),
    ]
    reasons = taken(sqlite_warehouse, rows, "a.example")
    fields = [reason.removeprefix("kept without ").partition(":")[0] for reason in reasons]
    assert fields == [
        *["discount_codes"] * 4,
        *["refunds"] * 4,
        *("cancelled_at", "updated_at", "email", "email", "customer_id", "visitor_id"),
        *("discount_cents", "discount_cents", "test"),
    ]
    (sums,) = sqlite_warehouse.rows(
        "SELECT SUM(gross), SUM(refunded), SUM(cancelled) FROM raw_order"
    )
    assert sums == (17_000, 500, 0)


def test_what_decides_is_no_optional_field(sqlite_warehouse: Warehouse) -> None:
    """Rows of other accounts would replace each other; amounts of other currencies count as the shop's."""
    for kind, row in (
        ("ad-spend", spend(account_id=LONG)),
        ("ad-spend", spend(segment=LONG)),
        ("orders", order(currency="EURO")),
        ("shops", {"shop_id": "n.example", "currency": "EUR", "timezone": "Mars"}),
        ("events", event(type="step_view", step_id=LONG, step_index=1)),
        ("events", answer("a") | {"field_id": LONG}),
    ):
        assert sqlite_warehouse.take(kind, [row])["rejected"] == 1, (kind, row)


def test_the_fields_of_other_rows_are_optional(sqlite_warehouse: Warehouse) -> None:
    for kind, row, without in (
        ("events", event(step_id=LONG), "step_id"),
        ("events", event(event_id="e2", step_index="first"), "step_index"),
        ("events", event(event_id="e3", email="none", customer_id=LONG), "customer_id"),
        ("forms", form(schema=[1]), "schema"),
        ("ad-spend", spend(reported_value="lots"), "reported_value"),
    ):
        counts = sqlite_warehouse.take(kind, [row])
        assert (counts["new"], counts["incomplete"]) == (1, 1), (kind, row)
        assert any(f"without {without}: " in reason for _, reason in sqlite_warehouse.reasons())
    both = "kept without customer_id: 'x"
    assert any(
        reason.startswith(both) and "; without email: no address" in reason
        for _, reason in sqlite_warehouse.reasons()
    )


def retried(warehouse: Warehouse) -> dict[str, int]:
    with open_arrow(warehouse.url) as connection:
        return retry_rejects(connection).report()


def test_a_retry_mends_the_row(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """In whatever order the digests of the versions come."""
    ahead = (datetime.now(UTC) + timedelta(days=3)).isoformat()
    rows = [
        order(
            order_id=f"o{n}", refunds=[{"refund_id": "r", "created_at": ahead, "amount_cents": 5}]
        )
        for n in range(8)
    ]
    assert warehouse.take("orders", rows)["incomplete"] == 8
    counts = retried(warehouse)
    assert (counts["duplicate"], counts["incomplete"]) == (8, 8)
    assert len(warehouse.rows("SELECT 1 FROM raw_order")) == 8
    later = datetime.now(UTC).timestamp() * 1e6 + 3 * MICROS_PER_DAY
    monkeypatch.setattr("jobs.importing.values.times.now_micros", lambda: int(later))
    counts = retried(warehouse)
    assert (counts["replaced"], "incomplete" in counts) == (8, False)
    assert warehouse.reasons() == []
    assert warehouse.rows("SELECT rows_incomplete FROM import_file") == [0]
    newest = (
        "SELECT r.refunded FROM raw_order r WHERE NOT EXISTS (SELECT 1 FROM raw_order n WHERE "
        "n.order_id = r.order_id AND (n.updated_at, n.precedence) > (r.updated_at, r.precedence))"
    )
    assert warehouse.rows(newest) == [5] * 8

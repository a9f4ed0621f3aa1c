"""Texts that broken scripts send in the place of an id, for every visitor alike, are missing values."""

import pytest

from tests.jobs.importing.conftest import Warehouse
from tests.support.form_calls import call, load
from tests.support.import_files import event, order

NOBODY = ["undefined", "null", "nan", "[object Object]", "NaN", "UNDEFINED", "[object object]"]
FORMATS = ["in.ndjson", "in.csv", "in.parquet"]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("field", ["event_id", "form_session_id", "visitor_id"])
def test_an_event_without_a_required_id_is_rejected(
    sqlite_warehouse: Warehouse, field: str, name: str
) -> None:
    rows = [event(event_id=f"e{number}") | {field: text} for number, text in enumerate(NOBODY)]
    counts = sqlite_warehouse.take("events", [*rows, event()], name)
    assert (counts["rejected"], counts["new"]) == (len(NOBODY), 1)
    assert {reason for _, reason in sqlite_warehouse.reasons()} == {f"{field}: missing"}


@pytest.mark.parametrize("name", FORMATS)
def test_an_order_without_an_id_is_rejected(sqlite_warehouse: Warehouse, name: str) -> None:
    rows = [order(order_id=text) for text in NOBODY]
    counts = sqlite_warehouse.take("orders", [*rows, order()], name)
    assert (counts["rejected"], counts["new"]) == (len(NOBODY), 1)


@pytest.mark.parametrize("name", FORMATS)
def test_an_optional_id_of_nobody_is_missing(sqlite_warehouse: Warehouse, name: str) -> None:
    somebody = {"customer_id": "undefined?"}
    events, orders = [event(event_id="one", **somebody)], [order(order_id="one", **somebody)]
    for number, text in enumerate(NOBODY):
        events.append(event(event_id=f"e{number}", customer_id=text))
        orders.append(order(order_id=f"o{number}", customer_id=text, visitor_id=text))
    sqlite_warehouse.take("events", events, name)
    sqlite_warehouse.take("orders", orders, name)
    for table, key in (("raw_event", "event_id"), ("raw_order", "order_id")):
        known = sqlite_warehouse.records(
            f"SELECT {key} AS id, customer_id FROM {table} WHERE customer_id <> ''"
        )
        assert known == [{"id": "one", "customer_id": "undefined?"}]
    assert sqlite_warehouse.records("SELECT 1 FROM raw_order WHERE visitor_id <> ''") == []


def test_other_texts_may_be_such_words(sqlite_warehouse: Warehouse) -> None:
    """A step, a question or a code may be called so."""
    row = event(type="step_view", step_id="null", step_index=0, discount_code="NaN")
    assert sqlite_warehouse.take("events", [row])["new"] == 1
    assert sqlite_warehouse.records("SELECT step_id, discount_code FROM raw_event") == [
        {"step_id": "null", "discount_code": "NAN"}
    ]


def test_a_number_that_is_none_is_missing(sqlite_warehouse: Warehouse) -> None:
    """As programs write a column of ids that are numbers, where rows have none."""
    events = [event(event_id=f"e{id}", customer_id=id) for id in (7.0, float("nan"), 8.0)]
    assert sqlite_warehouse.take("events", events, "in.parquet")["new"] == 3
    orders = [order(order_id=id, visitor_id=id) for id in (7.0, float("nan"))]
    assert sqlite_warehouse.take("orders", orders, "in.parquet")["rejected"] == 1
    assert sqlite_warehouse.reasons() == [(2, "order_id: missing")]
    assert sqlite_warehouse.rows("SELECT customer_id FROM raw_event ORDER BY 1") == ["", "7", "8"]
    assert sqlite_warehouse.rows("SELECT visitor_id FROM raw_order") == ["7"]


@pytest.mark.parametrize("text", NOBODY)
def test_a_call_of_another_system_has_no_such_ids(sqlite_warehouse: Warehouse, text: str) -> None:
    calls = [call("a"), call("a", 1) | {"userId": text}, call("a", 2) | {"messageId": text}]
    calls += [call("a", 3) | {"anonymousId": text}, call("a", 4)]
    calls[-1]["properties"]["form_session_id"] = text
    load(sqlite_warehouse, ("events", calls))
    assert [reason for _, reason in sqlite_warehouse.reasons()] == [
        "event_id: missing",
        "visitor_id: missing",
        "form_session_id: missing",
    ]
    assert sqlite_warehouse.rows("SELECT customer_id FROM raw_event") == ["", ""]

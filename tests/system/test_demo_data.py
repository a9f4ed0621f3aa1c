"""The demo's files obey the rules of the input format, and a later run changes no earlier day."""

import csv
import json
import uuid
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from jobs.demo.cast import SHOP_ID, SURVEY
from jobs.demo.files import Files, write
from web.dashboard.labels import labels_of

NOW = datetime(2026, 3, 12, 17, 30, tzinfo=UTC)  # a few days after the clocks went forward
TYPES = {"view", "start", "step_view", "step_complete", "answer", "subscribe", "complete"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return write(tmp_path_factory.mktemp("demo"), NOW, days=14)


def rows(paths: list[Path]) -> list[dict[str, Any]]:
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def events(files: Files) -> list[dict[str, Any]]:
    return rows(files["events"])


@pytest.fixture(scope="module")
def orders(files: Files) -> list[dict[str, Any]]:
    return rows(files["orders"])


def test_all_seven_kinds_are_there(files: Files) -> None:
    kinds = {"shops", "forms", "events", "orders", "ad-spend", "ad-accounts", "exchange-rates"}
    assert set(files) == kinds
    assert all(path.stat().st_size for paths in files.values() for path in paths)


def test_events_have_what_their_type_needs(files: Files, events: list[dict[str, Any]]) -> None:
    forms = {form["form_id"] for form in rows(files["forms"])}
    assert len({event["event_id"] for event in events}) == len(events)
    assert {event["type"] for event in events} == TYPES
    assert {event["form_id"] for event in events} == forms - {SURVEY.id}
    for event in events:
        uuid.UUID(event["form_id"])
        assert event["shop_id"] == SHOP_ID
        assert event["form_session_id"]
        assert event["visitor_id"]
        at = datetime.fromisoformat(event["occurred_at"])
        assert at.tzinfo
        assert NOW - timedelta(days=15) < at <= NOW
        if event["type"].startswith("step_"):
            assert event["step_id"]
            assert event["step_index"] >= 0
        if event["type"] == "answer":
            assert event["field_id"]
            assert event["value"] not in (None, "", [])


def test_all_kinds_of_answers_are_given(events: list[dict[str, Any]]) -> None:
    types = {event.get("field_type") for event in events} - {None}
    aggregatable = {"choice", "multi_choice", "scale", "boolean"}
    assert types == aggregatable | {"text", "email", "phone", "date", "number"}


def test_orders_add_up(orders: list[dict[str, Any]]) -> None:
    assert len({order["order_id"] for order in orders}) == len(orders)
    for order in orders:
        created = datetime.fromisoformat(order["created_at"])
        assert created <= datetime.fromisoformat(order["updated_at"]) <= NOW
        assert order["total_cents"] > 0
        refunded = sum(refund["amount_cents"] for refund in order.get("refunds", ()))
        assert 0 <= refunded <= order["total_cents"]
        amounts = [code["amount_cents"] for code in order.get("discount_codes", ())]
        assert sum(amounts) == order.get("discount_cents", 0)


def test_every_kind_of_order_occurs(orders: list[dict[str, Any]]) -> None:
    for field in ("refunds", "cancelled_at", "test", "discount_codes", "utm_id", "visitor_id"):
        assert any(order.get(field) for order in orders), field
    codes = [code for order in orders for code in order.get("discount_codes", ())]
    assert any("discount_id" in code for code in codes)
    assert any("discount_id" not in code for code in codes)


def test_all_addresses_are_made_up(
    events: list[dict[str, Any]], orders: list[dict[str, Any]]
) -> None:
    emails = [row["email"] for row in [*events, *orders] if "email" in row]
    assert emails
    assert all(email.endswith("@example.com") for email in emails)


def test_ads_are_billed_in_two_currencies_and_one_account_fails(files: Files) -> None:
    with files["ad-spend"][0].open() as file:
        spend = list(csv.DictReader(file))
    keys = [
        (row["provider"], row["account_id"], row["campaign_id"], row["date"], row["segment"])
        for row in spend
    ]
    assert len(set(keys)) == len(keys)
    assert {row["provider"] for row in spend} == {"meta", "google", "tiktok"}
    assert {row["currency"] for row in spend} == {"USD", "EUR"}
    accounts = rows(files["ad-accounts"])
    assert [account["status"] for account in accounts] == ["ok", "ok", "error"]


def test_there_are_no_rates_at_weekends_but_one_before_the_first_day(files: Files) -> None:
    with files["exchange-rates"][0].open() as file:
        days = [datetime.fromisoformat(row["Date"]) for row in csv.DictReader(file)]
    assert all(day.weekday() < 5 for day in days)
    assert min(days) < datetime(2026, 2, 27)  # noqa: DTZ001
    assert days == sorted(days, reverse=True)


def test_a_later_run_adds_a_day_and_changes_no_event(
    files: Files, events: list[dict[str, Any]], orders: list[dict[str, Any]], tmp_path: Path
) -> None:
    later = write(tmp_path, NOW + timedelta(days=1), days=15)
    by_id = {event["event_id"]: event for event in rows(later["events"])}
    assert len(by_id) > len(events)
    assert all(by_id[event["event_id"]] == event for event in events)
    orders_by_id = {order["order_id"]: order for order in rows(later["orders"])}
    changed = [order for order in orders if orders_by_id[order["order_id"]] != order]
    assert all(
        orders_by_id[order["order_id"]]["updated_at"] > order["updated_at"] for order in changed
    )


def test_answers_and_devices_make_a_difference(
    events: list[dict[str, Any]], orders: list[dict[str, Any]]
) -> None:
    buyers = {order["visitor_id"] for order in orders if "visitor_id" in order}
    visitors: dict[str, set[str]] = defaultdict(set)
    for event in events:
        if event["type"] == "complete":
            visitors["completed"].add(event["visitor_id"])
        elif event["type"] == "view":
            visitors["viewed"].add(event["visitor_id"])

    def bought(kind: str) -> float:
        return len(visitors[kind] & buyers) / len(visitors[kind])

    assert bought("completed") > 1.5 * bought("viewed") > 0


def test_questions_and_answers_have_labels(files: Files, events: list[dict[str, Any]]) -> None:
    labels = {row["form_id"]: labels_of(json.dumps(row["schema"])) for row in rows(files["forms"])}
    answered = [event for event in events if event["type"] == "answer"]
    assert answered
    for event in answered:
        of_form, field_id = labels[event["form_id"]], event["field_id"]
        assert of_form.question(field_id) != field_id
        if event["field_type"] == "choice":
            assert of_form.answer(field_id, event["value"]) != event["value"]

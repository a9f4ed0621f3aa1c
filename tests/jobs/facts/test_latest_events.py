"""`latest_events`: the raw events that decide what an e-mail resolves to and how a step is called."""

from pathlib import Path
from typing import Any

import pytest

from jobs.facts.latest_events import latest_events
from tests.support.import_files import event
from tests.support.warehouse import Warehouse

ADA, BOB = "ada@mail.example", "bob@mail.example"
OTHER_FORM = "6f9619ff-8b86-4011-b42d-00c04fc964ff"


@pytest.fixture
def warehouse(warehouse_url: str, tmp_path: Path) -> Warehouse:
    warehouse = Warehouse(warehouse_url, tmp_path)
    shops = [{"shop_id": f"{name}.example", "currency": "EUR"} for name in "ab"]
    warehouse.take("shops", shops)
    return warehouse


def seen(event_id: str, day: int, email: str, customer: str | None, **more: Any) -> dict[str, Any]:
    return at(event_id, day, email=email, customer_id=customer, **more)


def step(event_id: str, day: int, name: str | None, **more: Any) -> dict[str, Any]:
    kind = {"type": "step_view", "step_id": "s1", "step_index": 1, "step_name": name}
    return at(event_id, day, **{**kind, **more})


def at(event_id: str, day: int, **more: Any) -> dict[str, Any]:
    return event(event_id=event_id, occurred_at=f"2026-01-{day:02}T00:00:00Z", **more)


def decide(warehouse: Warehouse, *events: dict[str, Any], of: str = "true") -> list[str]:
    """The events that decide, for the e-mails and steps of all events that meet a condition."""
    warehouse.take("events", list(events))
    query = latest_events(
        "event_id <> 'left out'",
        f"SELECT shop_key, email_sha256 FROM raw_event WHERE {of}",
        f"SELECT shop_key, form_id, step_id FROM raw_event WHERE {of}",
    )
    return sorted(row for _, row in warehouse.rows(query))


def test_the_latest_sighting_of_an_email_with_a_customer_decides(warehouse: Warehouse) -> None:
    assert decide(
        warehouse,
        seen("early", 1, ADA, "c9"),
        seen("late", 3, ADA, "c1"),
        seen("left out", 5, ADA, "c1"),
        seen("without a customer", 4, ADA, None),
        seen("of bob", 2, BOB, "c2"),
    ) == ["late", "of bob"]


def test_each_form_has_a_sighting_of_its_own(warehouse: Warehouse) -> None:
    """That of a form that is left out counts for nothing, and must not stand in another's way."""
    assert decide(
        warehouse,
        seen("of the form", 1, ADA, "c1"),
        seen("of another form", 2, ADA, "c2", form_id=OTHER_FORM),
    ) == ["of another form", "of the form"]


def test_at_one_instant_the_greater_customer_decides(warehouse: Warehouse) -> None:
    events = [seen(f"e{customer}", 1, ADA, customer) for customer in ("c10", "c9", "C99")]
    assert decide(warehouse, *events) == ["ec9"]


def test_a_step_has_its_latest_event_and_its_latest_name(warehouse: Warehouse) -> None:
    assert decide(
        warehouse,
        step("first name", 1, "Skin"),
        step("latest name", 2, "Your skin", type="step_complete"),
        step("nameless", 3, None),
        step("latest", 4, None),
        at("no step", 5, step_id="s1", step_name="Not of a step"),
    ) == ["latest", "latest name"]


def test_at_one_instant_the_greater_event_names_a_step(warehouse: Warehouse) -> None:
    events = [step(f"{event_id}", 1, event_id) for event_id in ("e10", "e9", "E99")]
    assert decide(warehouse, *events) == ["e9"]


def test_shops_and_forms_have_emails_and_steps_of_their_own(warehouse: Warehouse) -> None:
    assert decide(
        warehouse,
        seen("a", 1, ADA, "c1"),
        seen("b", 2, ADA, "c1", shop_id="b.example"),
        step("step of a", 1, "Skin"),
        step("step of b", 2, "Skin", shop_id="b.example"),
        step("of another form", 3, "Skin", form_id=OTHER_FORM),
        step("another step", 4, "Hair", step_id="s2"),
    ) == ["a", "another step", "b", "of another form", "step of a", "step of b"]


def test_only_the_emails_and_steps_that_are_named_are_looked_for(warehouse: Warehouse) -> None:
    events = (
        *(seen("ada", 1, ADA, "c1"), seen("bob", 1, BOB, "c2")),
        *(step("s1", 1, "Skin"), step("s2", 1, "Hair", step_id="s2")),
    )
    assert decide(warehouse, *events, of="event_id IN ('bob', 's2')") == ["bob", "s2"]

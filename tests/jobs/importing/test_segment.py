"""Segment's and RudderStack's calls: what of the samples is stored, what is skipped, what is refused."""

import gzip
import json
from typing import Any

import pytest

from jobs.importing.formats.base import Target
from jobs.importing.formats.segment import Segment
from jobs.importing.rejects import retry_rejects
from tests.support.hashing import keyed, marked
from tests.support.import_files import FORM, SAMPLES
from tests.support.warehouse import Warehouse
from warehouse.connections.arrow import open_arrow
from warehouse.domain.email_hash import hashed_email

SHOP = "a.example"
STORED = "SELECT * FROM raw_event ORDER BY occurred_at"
# 2026-01-02T03:00:00Z in microseconds.
BEGAN = 1767322800_000_000
VIEW, START, STEP_VIEW, STEP_COMPLETE, ANSWER, SUBSCRIBE, COMPLETE = range(1, 8)
DESKTOP, MOBILE, TABLET = 1, 2, 3


PAGE = {"page_path": "/collections/skin"}


def stored(number: int, kind: int, session: str, visitor: str, **more: Any) -> dict[str, Any]:
    """A row of raw_event from the call of this number, without what is empty."""
    return {
        "event_id": f"ajs-next-1767322800{number:03d}-6f0c9b2e",
        "form_id": FORM,
        "form_session_id": session,
        "visitor_id": visitor,
        "type": kind,
        "occurred_at": BEGAN + number * 1_000_000 + 312_000,
        **more,
    }


def ada(number: int, kind: int, **more: Any) -> dict[str, Any]:
    campaign = {
        "utm_source": "facebook",
        "utm_medium": "cpc",
        "utm_campaign": "spring",
        "utm_term": "serum",
        "utm_content": "ad-a",
        "utm_id": "120210",
    }
    visitor = "0f9a7c1e-4b62-4c1f-9a37-6d3f5f1f2a10"
    return stored(number, kind, "fs_1", visitor, device=DESKTOP, **campaign, **PAGE, **more)


def bea(number: int, kind: int, **more: Any) -> dict[str, Any]:
    visitor = "b4c9d2aa-77e0-4d4e-8f55-0b8f6a1f9c33"
    return stored(number, kind, "fs_2", visitor, **{"device": MOBILE, **PAGE, **more})


CALLS = [
    ada(2, VIEW, variant="b"),
    ada(3, START),
    ada(4, STEP_VIEW, step_id="skin", step_name="Your skin"),
    ada(5, ANSWER, field_id="skin_type", field_type="choice", value='"dry"'),
    ada(6, ANSWER, field_id="about", field_type="text"),
    ada(7, STEP_COMPLETE, step_id="skin", step_name="Your skin"),
    ada(
        8,
        SUBSCRIBE,
        customer_id="7012345678901",
        email_sha256=keyed("ada@example.com"),
        discount_id="d1",
        discount_code="WELCOME-7K2P",
    ),
    ada(9, COMPLETE, customer_id="7012345678901"),
    bea(11, VIEW),
    bea(12, ANSWER, field_id="wishes", field_type="multi_choice", value='["calm","glow"]'),
    bea(13, STEP_COMPLETE, device=TABLET, step_id="skin", step_index=1, step_name="Your skin"),
    bea(
        14,
        SUBSCRIBE,
        email_sha256=keyed("bea@example.com"),
        discount_id="d1",
        discount_code="WELCOME-9X",
    ),
    # A server's call, without `timestamp`; its user id is an address.
    stored(
        16,
        VIEW,
        "fs_3",
        marked("cleo@example.com"),
        email_sha256=keyed("cleo@example.com"),
        occurred_at=BEGAN + 16_900_000,
    ),
]


def rows(warehouse: Warehouse) -> list[dict[str, Any]]:
    found = warehouse.records(STORED)
    own = ("shop_key", "batch_id")
    return [
        {n: v for n, v in row.items() if v not in ("", 0, None) and n not in own} for row in found
    ]


def call(**more: Any) -> dict[str, Any]:
    """A valid call; a property given as None is left out."""
    properties = {"form_id": FORM, "form_session_id": "s1", **more.pop("properties", {})}
    plain = {
        "type": "track",
        "event": "Form Viewed",
        "messageId": "m1",
        "anonymousId": "v1",
        "timestamp": "2026-01-02T03:04:05.678Z",
        "properties": {name: value for name, value in properties.items() if value is not None},
    }
    return {name: value for name, value in {**plain, **more}.items() if value is not None}


def test_what_is_stored(warehouse: Warehouse) -> None:
    counts = warehouse.take_file("events", SAMPLES / "segment.ndjson", SHOP)
    assert counts == {
        "read": 13,
        "new": 13,
        "duplicate": 0,
        "replaced": 0,
        "rejected": 0,
        "skipped": 3,
        "hashed_addresses": 1,
    }
    assert rows(warehouse) == CALLS
    # As an object storage has it, under a name that says nothing.
    packed = warehouse.folder / "1767322800123.aa8f.gz"
    packed.write_bytes(gzip.compress((SAMPLES / "segment.ndjson").read_bytes()))
    counts = warehouse.take_file("events", packed, SHOP)
    assert (counts["new"], counts["duplicate"], counts["skipped"]) == (0, 13, 3)


def test_the_batch_of_rudderstack(sqlite_warehouse: Warehouse) -> None:
    counts = sqlite_warehouse.take_file("events", SAMPLES / "segment.json", SHOP)
    assert (counts["new"], counts["skipped"], counts["rejected"]) == (3, 1, 0)
    plain = {
        "form_id": FORM,
        "form_session_id": "fs_9",
        "visitor_id": "3c0b7d5e-1111-4222-8333-444455556666",
        "device": DESKTOP,
        "utm_source": "google",
        "utm_medium": "cpc",
        "utm_campaign": "brand",
    }
    name = "5a1c7e42-0d1f-4f0e-9b6a-00000000000"
    at = BEGAN + 3600 * 1_000_000
    rating = {"field_id": "rating", "field_type": "scale", "value": '"4"'}
    assert rows(sqlite_warehouse) == [
        plain | {"event_id": f"{name}1", "type": VIEW, "occurred_at": at + 1_000_000},
        plain | {"event_id": f"{name}2", "type": ANSWER, "occurred_at": at + 2_000_000} | rating,
        plain
        | {"event_id": f"{name}3", "type": COMPLETE, "occurred_at": at + 3_000_000}
        | {"customer_id": "7012345678902"},
    ]


def test_what_cannot_be_taken(warehouse: Warehouse) -> None:
    secret = {"email": "Eve@Example.com", "field_id": "about", "field_type": "text"}
    broken = [
        (call(properties={"form_id": None}), "form_id: missing"),
        (call(properties={"form_id": [FORM]}), "form_id: a list is not a text"),
        (call(event="Form Step Viewed"), "step_id: missing"),
        (call(event="Form Question Answered", properties={"value": "x"}), "field_id: missing"),
        (
            call(timestamp="soon"),
            "occurred_at: 'soon' is not an ISO 8601 time; an example is 2026-01-31T23:59:59Z",
        ),
        (call(messageId=None), "event_id: missing"),
        (call(anonymousId=None), "visitor_id: missing"),
        (
            call(
                event="Form Question Answered",
                messageId="",
                properties={**secret, "value": "I am ill"},
                ip="203.0.113.7",
            ),
            "event_id: missing",
        ),
    ]
    lines = [json.dumps(one) for one, _ in broken] + ['{"messageId": "m', json.dumps(call())]
    path = warehouse.folder / "calls.ndjson"
    path.write_text("\n".join(lines))
    counts = warehouse.take_file("events", path, SHOP)
    assert (counts["read"], counts["new"], counts["rejected"]) == (10, 1, 9)
    reasons = [reason for _, reason in broken] + ["not JSON"]
    assert warehouse.reasons() == list(enumerate(reasons, 1))
    texts = warehouse.records("SELECT text FROM reject WHERE line = 8")
    assert json.loads(texts[0]["text"]) == {
        **{name: value for name, value in broken[7][0].items() if name != "ip"},
        "properties": {
            "form_id": FORM,
            "form_session_id": "s1",
            **secret,
            "value": "***",
            "email": marked("eve@example.com"),
        },
    }


def row(given: dict[str, Any]) -> dict[str, Any] | None:
    return Segment().row(given, Target(SHOP, "EUR"))


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ("Form Viewed", "view"),
        ("form_started", "start"),
        ("form-step-viewed", "step_view"),
        ("FormStepCompleted", "step_complete"),
        ("FORM QUESTION  ANSWERED", "answer"),
        ("formSubscribed", "subscribe"),
        ("Form_Completed", "complete"),
    ],
)
def test_names_of_events(event: str, kind: str) -> None:
    found = row(call(event=event))
    assert found is not None
    assert found["type"] == kind


@pytest.mark.parametrize(
    "other",
    [
        {"event": "Form Submitted"},
        {"event": "Order Completed"},
        {"event": None},
        {"event": 5},
        {"type": "page", "event": "Form Viewed"},
        {"type": "identify"},
    ],
)
def test_all_other_calls_are_skipped(other: dict[str, Any]) -> None:
    target = Target(SHOP, "EUR")
    assert Segment().row(call(**other), target) is None
    assert target.counted == {"skipped": 1}


def test_two_spellings_of_a_property() -> None:
    other = "0190c4a2-5b7e-7c3d-8f1a-000000000000"
    for given in (
        {"form_id": FORM, "formId": other},
        {"formId": other, "form_id": FORM},
        {"formId": FORM, "form_id": None},
    ):
        found = row(call() | {"properties": given})
        assert found is not None
        assert found["form_id"] == FORM


def test_the_property_goes_before_the_trait() -> None:
    traits = {"context": {"traits": {"email": "b@b.example"}}}
    found = row(call(properties={"email": "a@a.example"}, userId="c@c.example", **traits))
    assert found is not None
    assert (found["email"], found["customer_id"]) == ("a@a.example", None)
    found = row(call(userId="c@c.example", **traits))
    assert found is not None
    assert (found["email"], found["visitor_id"]) == ("b@b.example", "v1")


def test_a_stated_hash_goes_before_addresses_of_other_places() -> None:
    stated = hashed_email("a@a.example")
    traits = {"context": {"traits": {"email": "b@b.example"}}}
    for name in ("email_sha256", "emailSha256"):
        call_of_user = call(properties={name: stated}, userId="c@c.example", **traits)
        for found in (row(call_of_user), row(Segment().conceal(call_of_user))):
            assert found is not None
            assert (found["email_sha256"], found.get("email")) == (stated, None)


def test_a_broken_hash_is_not_accepted_by_a_retry(warehouse: Warehouse) -> None:
    path = warehouse.folder / "calls.ndjson"
    path.write_text(json.dumps(call(properties={"email_sha256": "eve"})))
    warehouse.take_file("events", path, SHOP)
    reason = "kept without email_sha256: not 64 hexadecimal digits (SHA-256 of the address in lower case)"
    assert warehouse.reasons() == [(1, reason)]
    with open_arrow(warehouse.url) as connection:
        counts = retry_rejects(connection)
    assert (counts.read, counts.rejected, counts.more["incomplete"]) == (1, 0, 1)
    assert warehouse.reasons() == [(1, reason)]

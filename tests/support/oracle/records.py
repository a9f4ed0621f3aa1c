"""Raw rows as imported, without duplicates and normalised: contract section 2, events."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from hashlib import sha256
from typing import Any

from tests.support.oracle.times import instant

Row = dict[str, Any]

UTM = ("utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "utm_id")
DEVICES = ("desktop", "mobile", "tablet", "other")
AGGREGATABLE = ("choice", "multi_choice", "scale", "boolean")

IDS = ("event_id", "form_session_id", "visitor_id", "customer_id", "order_id")
NO_IDS = ("undefined", "null", "nan", "[object object]")


@dataclass(frozen=True)
class Answer:
    """A field's answer; `values` is None where only the fact that it was answered is kept."""

    values: tuple[str, ...] | None
    is_list: bool


@dataclass(frozen=True)
class Event:
    id: str
    form_id: str
    session_id: str
    visitor: str
    type: str
    at: datetime
    device: str | None
    step_id: str | None
    step_index: int | None
    step_name: str | None
    field_id: str | None
    answer: Answer | None
    customer: str | None
    email: str | None
    discount_id: str | None
    code: str | None
    utm: tuple[str, ...]
    variant: str


def present(row: Row, field: str, length: int | None = None) -> Any:
    """Section 2: "An empty string or null is a missing value; so are, as the id of an event, ..., the texts
    `undefined`, `null`, `nan` and `[object Object]` in any case". Cut to `length` where given."""
    value = row.get(field)
    if value == "" or value is None or (field in IDS and str(value).lower() in NO_IDS):
        return None
    return value[:length] if length else value


def email_hash(row: Row) -> str | None:
    """Section 2: "trimmed, lower-cased and hashed (SHA-256, hex)"; where both are given, `email`
    counts."""
    email = present(row, "email")
    if email is not None:
        return sha256(email.strip().lower().encode()).hexdigest()
    given: str | None = present(row, "email_sha256")
    return given


def upper(code: str | None) -> str | None:
    """Section 3: "Codes compare case-insensitively", and section 4 shows them upper-cased."""
    return None if code is None else code.upper()


def utm_of(row: Row) -> tuple[str, ...]:
    """The six UTM values "as one set"; a missing one is `""` (section 1), cut at 255."""
    return tuple(present(row, name, 255) or "" for name in UTM)


def device_of(row: Row) -> str | None:
    """Case-insensitive; anything unknown is `other`; nothing carries no device at all."""
    device = present(row, "device_type")
    if device is None:
        return None
    return device.lower() if device.lower() in DEVICES else "other"


def as_text(value: Any) -> str:
    """`true`/`false` for booleans; numbers as JSON writes them, `3.0` as `3`; cut at 1,000."""
    if isinstance(value, float):
        if 0 < abs(value) < 1e-6:
            digits, exponent = repr(value).split("e")
            return f"{digits}e{int(exponent)}"
        plain = format(Decimal(repr(value)), "f")
        return "0" if value == 0 else plain.removesuffix(".0")
    return (value if isinstance(value, str) else json.dumps(value))[:1000]


def answer_of(row: Row) -> Answer | None:
    """The answer an event gives: "a list counts each distinct element once, an empty list is no
    answer"; of types that cannot be aggregated only the fact is kept."""
    if row["type"] != "answer" or row["value"] == []:
        return None
    if row["field_type"] not in AGGREGATABLE:
        return Answer(None, False)
    value = row["value"]
    elements = value if isinstance(value, list) else [value]
    return Answer(tuple(sorted({as_text(element) for element in elements})), value is elements)


def event_of(row: Row) -> Event:
    index = present(row, "step_index")
    return Event(
        id=row["event_id"],
        form_id=row["form_id"].lower(),
        session_id=row["form_session_id"],
        visitor=row["visitor_id"],
        type=row["type"],
        at=instant(row["occurred_at"]),
        device=device_of(row),
        step_id=present(row, "step_id"),
        step_index=None if index is None else int(index),
        step_name=present(row, "step_name", 1000),
        field_id=present(row, "field_id"),
        answer=answer_of(row),
        customer=present(row, "customer_id"),
        email=email_hash(row),
        discount_id=present(row, "discount_id"),
        code=upper(present(row, "discount_code")),
        utm=utm_of(row),
        variant=present(row, "variant", 255) or "",
    )


def events_of(rows: Iterable[Row], shop_id: str) -> list[Event]:
    """The shop's events, once per `event_id`: "An `event_id` already taken is a duplicate"."""
    taken: dict[str, Event] = {}
    for row in rows:
        if row["shop_id"] == shop_id:
            taken.setdefault(row["event_id"], event_of(row))
    return list(taken.values())


def last_import_wins(rows: Iterable[Row], *key: str) -> list[Row]:
    """One row per key, the last that arrived; a missing part of the key is `""`."""
    standing: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        standing[tuple(present(row, field) or "" for field in key)] = row
    return list(standing.values())

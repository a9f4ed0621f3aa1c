"""Segment's `track` calls about forms as events; RudderStack sends the same. See `segment.md`."""

import re
from functools import lru_cache
from typing import Any, ClassVar, Final

from jobs.importing.formats.devices import device_of
from jobs.importing.formats.format import SKIPPED, Format, Row, Taken, Target
from jobs.importing.formats.records import Record, Sample
from jobs.importing.identity import hashed_email
from jobs.importing.kinds.events import Events

# Names of events, without what separates their words.
EVENTS: Final = {
    "formviewed": "view",
    "formstarted": "start",
    "formstepviewed": "step_view",
    "formstepcompleted": "step_complete",
    "formquestionanswered": "answer",
    "formsubscribed": "subscribe",
    "formcompleted": "complete",
}
_SEPARATORS: Final = re.compile(r"[\s_-]+")

# Properties are called like our fields, in snake_case or camelCase.
_FIELDS: Final = (
    "form_id",
    "form_session_id",
    "step_id",
    "step_index",
    "step_name",
    "field_id",
    "field_type",
    "value",
    "email",
    "discount_id",
    "discount_code",
)
_PROPERTIES: Final = {
    name: field
    for field in _FIELDS
    for name in (field, re.sub(r"_(.)", lambda found: found[1].upper(), field))
}
_CAMPAIGN: Final = {
    "source": "utm_source",
    "medium": "utm_medium",
    "name": "utm_campaign",
    "term": "utm_term",
    "content": "utm_content",
    "id": "utm_id",
}
_NOTHING: Final[Record] = {}
_EVENTS: Final = Events()


class Segment(Format):
    """Calls about forms, by the names of their events; all others are skipped."""

    name = "segment"
    kind = "events"
    within = ("batch",)
    counts = (SKIPPED,)
    takes: ClassVar = (
        Taken("messageId", "event_id"),
        Taken("anonymousId", "visitor_id"),
        Taken("userId", "customer_id"),
        Taken("type", "type"),
        Taken("event", "type"),
        # The best first: it is the next one, as the server's clock would have it.
        Taken("timestamp", "occurred_at"),
        Taken("originalTimestamp", "occurred_at"),
        Taken("sentAt", "occurred_at"),
        *(Taken(f"properties.{name}", field) for name, field in _PROPERTIES.items()),
        Taken("context.traits.email", "email"),
        *(Taken(f"context.campaign.{name}", field) for name, field in _CAMPAIGN.items()),
        Taken("context.device.type", "device_type"),
        Taken("context.device.model", "device_type"),
        Taken("context.userAgent", "device_type"),
    )

    def seems(self, sample: Sample) -> bool:
        return any(
            "messageId" in one and ("anonymousId" in one or "userId" in one)
            for one in sample.records
        )

    def row(self, record: Record, target: Target) -> Row | None:
        kind = _event_type(record)
        if kind is None:
            target.count(SKIPPED)
            return None
        row = _of_properties(record)
        row["type"], row["event_id"] = kind, record.get("messageId")
        context = _object(record, "context")
        for name, value in _object(context, "campaign").items():
            if name in _CAMPAIGN:
                row[_CAMPAIGN[name]] = value
        row["customer_id"], address = _user(record)
        row["visitor_id"] = record.get("anonymousId") or row["customer_id"] or hashed_email(address)
        if not row.get("email"):
            row["email"] = _object(context, "traits").get("email") or address
        row["occurred_at"] = (
            record.get("timestamp") or record.get("originalTimestamp") or record.get("sentAt")
        )
        device, agent = _object(context, "device"), context.get("userAgent")
        row["device_type"] = device_of(device.get("type"), device.get("model"), agent)
        return row

    def conceal(self, record: Record) -> Record:
        """Without a value that is free text, and with the hash of an address in the place of the id
        that it was."""
        row, (_, address) = _of_properties(record), _user(record)
        changed: Record = {}
        if "value" in row:
            changed["value"] = _EVENTS.conceal(row)["value"]
        if address:
            hashed = hashed_email(address)
            traits = _object(_object(record, "context"), "traits")
            changed["email"] = row.get("email") or traits.get("email") or hashed
            visitor = record.get("anonymousId") or hashed
            record = record | {"anonymousId": visitor, "userId": None}
        if not changed:
            return record
        return record | {"properties": _object(record, "properties") | changed}


def _of_properties(record: Record) -> Row:
    """The fields that are properties; of two spellings the one in snake_case goes first."""
    row: Row = {}
    for name, value in _object(record, "properties").items():
        field = _PROPERTIES.get(name)
        if field and value is not None and (name == field or field not in row):
            row[field] = value
    return row


def _object(record: Record, name: str) -> Record:
    found = record.get(name)
    return found if isinstance(found, dict) else _NOTHING


def _user(record: Record) -> tuple[Any, str]:
    """The user's id, and ""; or, where that is an e-mail address, no id and the address."""
    user = record.get("userId")
    return (None, user) if isinstance(user, str) and "@" in user else (user, "")


def _event_type(record: Record) -> str | None:
    event = record.get("event")
    if record.get("type") not in ("track", None) or not isinstance(event, str):
        return None
    return _of_name(event)


@lru_cache(maxsize=1 << 12)
def _of_name(event: str) -> str | None:
    return EVENTS.get(_SEPARATORS.sub("", event).lower())

"""Segment's `track` calls about forms as events; RudderStack sends the same. See `segment.md`."""

import re
from functools import lru_cache
from typing import Any, ClassVar, Final

from jobs.importing.formats.base import SKIPPED, Format, Record, Row, Sample, SourceField, Target
from jobs.importing.formats.user_agent import device_of
from jobs.importing.kinds.events import EventsKind
from jobs.importing.values.addresses import hashed_email

# Names of events in lower case, without separators between words.
EVENTS: Final = {
    "formviewed": "view",
    "formstarted": "start",
    "formstepviewed": "step_view",
    "formstepcompleted": "step_complete",
    "formquestionanswered": "answer",
    "formsubscribed": "subscribe",
    "formcompleted": "complete",
}
# Names of other events can be of any length; they are not remembered.
_LONGEST_NAME: Final = 255
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
    for name in (field, re.sub(r"_(.)", lambda match: match[1].upper(), field))
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
_EVENTS: Final = EventsKind()


class Segment(Format):
    """Calls about forms, by the names of their events; other calls are skipped."""

    name = "segment"
    kind = "events"
    list_members = ("batch",)
    counts = (SKIPPED,)
    source_fields: ClassVar = (
        SourceField("messageId", "event_id"),
        SourceField("anonymousId", "visitor_id"),
        SourceField("userId", "customer_id"),
        SourceField("type", "type"),
        SourceField("event", "type"),
        # The best first: it is the next one, corrected by the server's clock.
        SourceField("timestamp", "occurred_at"),
        SourceField("originalTimestamp", "occurred_at"),
        SourceField("sentAt", "occurred_at"),
        *(SourceField(f"properties.{name}", field) for name, field in _PROPERTIES.items()),
        SourceField("context.traits.email", "email"),
        *(SourceField(f"context.campaign.{name}", field) for name, field in _CAMPAIGN.items()),
        SourceField("context.device.type", "device_type"),
        SourceField("context.device.model", "device_type"),
        SourceField("context.userAgent", "device_type"),
    )

    def matches(self, sample: Sample) -> bool:
        return any(
            "messageId" in record and ("anonymousId" in record or "userId" in record)
            for record in sample.records
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
        """Without a value that is free text; an address that was used as an id becomes its hash."""
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
    """The fields that are properties; of two spellings snake_case wins."""
    row: Row = {}
    for name, value in _object(record, "properties").items():
        field = _PROPERTIES.get(name)
        if field and value is not None and (name == field or field not in row):
            row[field] = value
    return row


def _object(record: Record, name: str) -> Record:
    value = record.get(name)
    return value if isinstance(value, dict) else _NOTHING


def _user(record: Record) -> tuple[Any, str]:
    """(id, "") of the user; (None, address) if the id is an e-mail address."""
    user = record.get("userId")
    return (None, user) if isinstance(user, str) and "@" in user else (user, "")


def _event_type(record: Record) -> str | None:
    event = record.get("event")
    if record.get("type") not in ("track", None) or not isinstance(event, str):
        return None
    return _of_name(event) if len(event) <= _LONGEST_NAME else None


@lru_cache(maxsize=1 << 12)
def _of_name(event: str) -> str | None:
    return EVENTS.get(_SEPARATORS.sub("", event).lower())

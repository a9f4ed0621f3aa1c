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

# Our field and the two spellings of the property that it is.
_PROPERTIES: Final = tuple(
    (name, name, re.sub(r"_(.)", lambda found: found[1].upper(), name))
    for name in (
        "form_id",
        "form_session_id",
        "step_id",
        "step_index",
        "step_name",
        "field_id",
        "field_type",
        "value",
        "discount_id",
        "discount_code",
    )
)
_CAMPAIGN: Final = {
    "source": "utm_source",
    "medium": "utm_medium",
    "name": "utm_campaign",
    "term": "utm_term",
    "content": "utm_content",
    "id": "utm_id",
}
# The best first: `timestamp` is `originalTimestamp` as the server's clock would have it.
_TIMES: Final = ("timestamp", "originalTimestamp", "sentAt")
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
        *(Taken(name, "occurred_at") for name in _TIMES),
        *(
            Taken(f"properties.{name}", field)
            for field, *names in _PROPERTIES
            for name in dict.fromkeys(names)
        ),
        Taken("properties.email", "email"),
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
        properties, context = _object(record, "properties"), _object(record, "context")
        device = _object(context, "device")
        user, address = _user(record)
        visitor = record.get("anonymousId") or user or hashed_email(address)
        row = {
            "type": kind,
            "event_id": record.get("messageId"),
            "visitor_id": visitor,
            "customer_id": user,
            "occurred_at": next((at for name in _TIMES if (at := record.get(name))), None),
            "email": properties.get("email") or _object(context, "traits").get("email") or address,
            "device_type": device_of(
                device.get("type"), device.get("model"), context.get("userAgent")
            ),
        }
        for field, name, camel in _PROPERTIES:
            value = properties.get(name)
            row[field] = properties.get(camel) if value is None else value
        for name, value in _object(context, "campaign").items():
            if name in _CAMPAIGN:
                row[_CAMPAIGN[name]] = value
        return row

    def conceal(self, record: Record) -> Record:
        """Without a value that is free text, and with the hash of an address in the place of the id
        that it was."""
        properties, (_, address) = _object(record, "properties"), _user(record)
        if address:
            hashed = hashed_email(address)
            traits = _object(_object(record, "context"), "traits")
            email = properties.get("email") or traits.get("email") or hashed
            visitor = record.get("anonymousId") or hashed
            record = record | {"anonymousId": visitor, "userId": None}
            properties = properties | {"email": email}
        if "value" in properties:
            kind = properties.get("field_type", properties.get("fieldType"))
            answer = {"field_type": kind, "value": properties["value"]}
            properties = properties | {"value": _EVENTS.conceal(answer)["value"]}
        return record | {"properties": properties}


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

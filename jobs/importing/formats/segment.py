"""Segment's `track` calls about forms as events; RudderStack sends the same. See `segment.md`."""

from typing import Final

from jobs.importing.formats.base import SKIPPED, Format, Record, Row, Sample, SourceField, Target
from jobs.importing.kinds.events import EventsKind
from warehouse.domain.email_hash import plain_mark
from warehouse.domain.tracking_calls import (
    CAMPAIGN,
    PROPERTIES,
    SOURCE,
    fields_of,
    member,
    row_of,
    user_of,
)

_EVENTS: Final = EventsKind()


class Segment(Format):
    """Calls about forms, by the names of their events; other calls are skipped."""

    name = SOURCE
    title = "Tracking calls, as Segment has them"
    kind = "events"
    list_members = ("batch",)
    counts = (SKIPPED,)
    source_fields = (
        SourceField("messageId", "event_id"),
        SourceField("anonymousId", "visitor_id"),
        SourceField("userId", "customer_id"),
        SourceField("type", "type"),
        SourceField("event", "type"),
        # The best first: it is the next one, corrected by the server's clock.
        SourceField("timestamp", "occurred_at"),
        SourceField("originalTimestamp", "occurred_at"),
        SourceField("sentAt", "occurred_at"),
        *(SourceField(f"properties.{name}", field) for name, field in PROPERTIES.items()),
        SourceField("context.traits.email", "email"),
        *(SourceField(f"context.campaign.{name}", field) for name, field in CAMPAIGN.items()),
        SourceField("context.page.path", "page_path"),
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
        row = row_of(record)
        if row is None:
            target.count(SKIPPED)
        return row

    def conceal(self, record: Record) -> Record:
        """A rejected call without free text; an address that was used as an id becomes its hash."""
        row, (_, address) = fields_of(record), user_of(record)
        changed: Record = {}
        if "value" in row:
            changed["value"] = _EVENTS.conceal(row)["value"]
        if address:
            hashed = plain_mark(address)
            traits = member(member(record, "context"), "traits")
            if not row.get("email") and not row.get("email_sha256"):
                changed["email"] = traits.get("email") or hashed
            visitor = record.get("anonymousId") or hashed
            record = record | {"anonymousId": visitor, "userId": None}
        if not changed:
            return record
        return record | {"properties": member(record, "properties") | changed}

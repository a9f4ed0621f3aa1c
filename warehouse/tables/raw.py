"""Raw events and orders: append-only, as imported."""

from typing import Final

from warehouse.columns import Index, Table, Unique, small, text, whole
from warehouse.vocabulary import UTM_FIELDS

raw_event: Final = Table(
    "raw_event",
    whole("shop_key"),
    text("event_id"),
    whole("batch_id"),
    text("form_id"),
    text("form_session_id"),
    text("visitor_id"),
    small("type"),
    whole("occurred_at"),
    small("device"),
    text("step_id"),
    whole("step_index"),
    text("step_name"),
    # Of an answer: field_id is "" where the event is no answer (an empty list); value is JSON, a
    # text or a list of distinct texts, and "" where the type cannot be aggregated.
    text("field_id"),
    text("field_type"),
    text("value"),
    text("customer_id"),
    text("email_sha256"),
    text("discount_id"),
    text("discount_code"),
    *(text(name) for name in UTM_FIELDS),
    Index("batch_id"),
    Unique("shop_key", "event_id"),
)

raw_order: Final = Table(
    "raw_order",
    whole("shop_key"),
    text("order_id"),
    # The version stands that has the greatest (updated_at, content): `content` is the SHA-256 of
    # the normalised row, so ties fall the same way whatever came first.
    whole("updated_at"),
    text("content"),
    whole("batch_id"),
    whole("created_at"),
    whole("gross"),
    whole("refunded"),
    whole("discounted"),
    text("customer_id"),
    text("email_sha256"),
    text("visitor_id"),
    # JSON: [[code in upper case, amount in minor units, discount_id], ...], one entry a code.
    text("codes"),
    small("test"),
    small("cancelled"),
    *(text(name) for name in UTM_FIELDS),
    Index("batch_id"),
    Unique("shop_key", "order_id", "updated_at", "content"),
)

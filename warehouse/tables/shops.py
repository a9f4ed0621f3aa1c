"""Shops, deleted shops, forms, API keys, write keys, calls that the collector did not keep, and persons who
are forgotten."""

from typing import Final

from sqlalchemy import Table, UniqueConstraint

from warehouse.domain.time import NEVER
from warehouse.tables.base import (
    index,
    integer,
    key,
    metadata,
    serial_key,
    small_integer,
    text,
    text_key,
)

shop: Final = Table(
    "shop",
    metadata,
    serial_key("shop_key"),
    text("shop_id"),
    text("name"),
    text("currency"),
    text("timezone"),
    # Which forms count as another one, or not at all (`domain/form_rules.py`).
    text("form_rules"),
    # The edition that answers read; 0 before the first rollup.
    integer("edition"),
    # Changes with everything that can change an answer of the shop (`editions/editions.py`).
    integer("data_version"),
    # The instant of the last change.
    integer("data_changed_at"),
    # Its forms that were created or imported here, and the bytes of all schemas and drafts:
    # `web/api/form_quota.py`.
    integer("form_count"),
    integer("form_bytes"),
    UniqueConstraint("shop_id"),
)

# A shop that is deleted, while rows of it may still be there or come (`warehouse/tenants`).
deleted_shop: Final = Table(
    "deleted_shop",
    metadata,
    key("shop_key"),
    text("shop_id"),
    integer("deleted_at"),
)

form: Final = Table(
    "form",
    metadata,
    key("shop_key"),
    text_key("form_id"),
    text("name"),
    text("status"),
    text("schema"),
    text("draft_schema"),
    integer("created_at"),
    integer("updated_at"),
    # Where another system calls the form otherwise: the format in which its events come, and its id there.
    text("source"),
    text("source_id"),
    # The first event of the form that came in a file of a format; NEVER where none did.
    integer("first_event_at", NEVER),
    # When the name came with an event, 0 where none did. NEVER: the form was created or imported here.
    integer("named_at", NEVER),
    # 1: the collector took an event of it from a page whose origin the write key names.
    small_integer("on_own_page"),
    index("shop_key", "created_at", "form_id"),
)

# A member's words on a day of the shop: `web/api/notes.py`. In no figure.
note: Final = Table(
    "note",
    metadata,
    text_key("note_id"),
    integer("shop_key"),
    integer("day"),
    text("text"),
    integer("created_at"),
    index("shop_key", "day", "note_id"),
)

# A form that was created with an `Idempotency-Key`, which a repeated request returns.
form_creation: Final = Table(
    "form_creation",
    metadata,
    text_key("credential_id"),
    # Its keyed hash: a client's key may name a person.
    text_key("idempotency_key"),
    # The SHA-256 of the request.
    text("content"),
    text("form_id"),
    integer("created_at"),
    index("created_at"),
)

api_key: Final = Table(
    "api_key",
    metadata,
    text_key("credential_id"),
    integer("shop_key"),
    text("key_hash"),
    # The first characters of the key: its owner recognises it by them.
    text("hint"),
    text("name"),
    text("scopes"),
    text("created_by"),
    integer("created_at"),
    integer("expires_at", NEVER),
    integer("revoked_at", NEVER),
    integer("last_used_at"),
    # The credential that replaced it in a rotation.
    text("replaced_by"),
    index("shop_key"),
    UniqueConstraint("key_hash"),
)

# A key with which a shop's pages send events to the collector. It is public, so it is stored as it is.
write_key: Final = Table(
    "write_key",
    metadata,
    text_key("write_key"),
    integer("shop_key"),
    text("name"),
    # Origins whose pages may use it, with spaces between them; "": servers alone.
    text("origins"),
    text("created_by"),
    integer("created_at"),
    integer("revoked_at", NEVER),
    index("shop_key"),
)

# Tracking calls that the collector did not keep: `operations/collectors.py`.
uncollected: Final = Table(
    "uncollected",
    metadata,
    key("shop_key"),
    text_key("reason"),
    # The last day with any, in UTC, and those of that day.
    integer("day"),
    integer("calls"),
)

# The last time that the collector saw each form of a shop: `forms/form_sightings.py`. In no figure.
form_sighting: Final = Table(
    "form_sighting",
    metadata,
    key("shop_key"),
    text_key("form_id"),
    text("name"),
    # The first part of the path of the page on which it was seen, "" where the call does not say.
    text("path"),
    integer("seen_at"),
    # As in `form`.
    small_integer("on_own_page"),
)

# Forms that only events named, and a member had forgotten. Their events stay.
form_forgotten: Final = Table("form_forgotten", metadata, key("shop_key"), text_key("form_id"))

# Imports drop the rows of these persons. Only this keyed hash of a person is kept.
forgotten: Final = Table(
    "forgotten",
    metadata,
    key("shop_key"),
    text_key("identifier_hash"),
    integer("asked_at"),
    # When the raw rows that there were had gone, and when no edition had them any more; 0 until then. And how
    # many these were.
    integer("rows_gone_at"),
    integer("removed_at"),
    integer("events"),
    integer("orders"),
    # Orders stay, without the person.
    small_integer("keeps_orders"),
)

"""Shops, forms and API keys: what is served as it is."""

from typing import Final

from warehouse.columns import Index, Table, Unique, key, serial, text, text_key, whole
from warehouse.days import NEVER

shop: Final = Table(
    "shop",
    serial("shop_key"),
    text("shop_id"),
    text("name"),
    text("currency"),
    text("timezone"),
    # The edition that answers are read from; 0 before the first rollup.
    whole("edition"),
    # Moves with everything that can change an answer of the shop.
    whole("data_version"),
    # When it last moved.
    whole("moved_at"),
    Unique("shop_id"),
)

form: Final = Table(
    "form",
    key("shop_key"),
    text_key("form_id"),
    text("name"),
    text("status"),
    text("schema"),
    text("draft_schema"),
    whole("created_at"),
    whole("updated_at"),
    Index("shop_key", "created_at", "form_id"),
)

# A form that was created with an `Idempotency-Key`: what a retry of that request is answered with.
form_creation: Final = Table(
    "form_creation",
    text_key("credential_id"),
    text_key("idempotency_key"),
    # SHA-256 of what the request asked for.
    text("content"),
    text("form_id"),
    whole("created_at"),
    Index("created_at"),
)

api_key: Final = Table(
    "api_key",
    text_key("credential_id"),
    whole("shop_key"),
    text("key_hash"),
    # The first characters of the key, by which its owner recognises it.
    text("hint"),
    text("name"),
    text("scopes"),
    text("created_by"),
    whole("created_at"),
    whole("expires_at", NEVER),
    whole("revoked_at", NEVER),
    whole("last_used_at"),
    # The credential that a rotation put in its place.
    text("replaced_by"),
    Index("shop_key"),
    Unique("key_hash"),
)

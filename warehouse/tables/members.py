"""Members of shops: who they are, what they may do, where they are signed in, and what was done."""

from typing import Final

from sqlalchemy import Index, Table

from warehouse.columns import key, metadata, serial, text, text_key, whole
from warehouse.days import NEVER

# A person: one e-mail address and one password, whatever the number of shops.
member: Final = Table(
    "member",
    metadata,
    serial("member_key"),
    text("email", unique=True),
    # Argon2id; "" while no password is set.
    text("password_hash"),
    whole("created_at"),
)

membership: Final = Table(
    "membership",
    metadata,
    key("shop_key"),
    key("member_key", index=True),
    text("permissions"),
    whole("created_at"),
    whole("disabled_at", NEVER),
)

# A browser in which a member is signed in to one shop. Deleting the row ends it, in every process.
sign_in: Final = Table(
    "sign_in",
    metadata,
    text_key("token_hash"),
    whole("member_key", index=True),
    whole("shop_key"),
    whole("started_at", index=True),
    whole("seen_at"),
)

# A one-time link to set a password. Deleting the row uses it up.
password_link: Final = Table(
    "password_link",
    metadata,
    text_key("token_hash"),
    whole("member_key", index=True),
    whole("expires_at"),
)

# How much of its allowance of attempts to sign in an account or an address has used
# (web/members/throttle.py).
allowance: Final = Table(
    "allowance",
    metadata,
    text_key("subject"),
    # When the whole allowance is there again.
    whole("whole_at", index=True),
)

audit_event: Final = Table(
    "audit_event",
    metadata,
    serial("audit_id"),
    whole("shop_key"),
    whole("at"),
    # A member's e-mail address, or "operator".
    text("who"),
    # The client's address, or "command line".
    text("place"),
    text("action"),
    text("what"),
    Index(None, "shop_key", "audit_id"),
)

# What the service makes up once and every process of it must share.
secret: Final = Table("secret", metadata, text_key("name"), text("value"))

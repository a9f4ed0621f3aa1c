"""Members of shops: accounts, permissions, sessions, and the audit log."""

from typing import Final

from sqlalchemy import Table, UniqueConstraint

from warehouse.domain.time import NEVER
from warehouse.tables.base import index, integer, key, metadata, serial_key, text, text_key

# A person, with one e-mail address and one password for all their shops.
member: Final = Table(
    "member",
    metadata,
    serial_key("member_key"),
    text("email"),
    # Argon2id; "" while no password is set.
    text("password_hash"),
    # 1: they may add shops, of which they become members. No shop can give this right: it holds in none.
    integer("adds_shops"),
    integer("created_at"),
    UniqueConstraint("email"),
)

membership: Final = Table(
    "membership",
    metadata,
    key("shop_key"),
    key("member_key"),
    text("permissions"),
    integer("created_at"),
    integer("disabled_at", NEVER),
    index("member_key"),
)

# A browser in which a member is signed in to one shop. Deleting the row ends it, in every process.
sign_in: Final = Table(
    "sign_in",
    metadata,
    text_key("token_hash"),
    integer("member_key"),
    integer("shop_key"),
    integer("started_at"),
    integer("seen_at"),
    # 1: it lasts for 30 days, used or not ("Keep me signed in on this device").
    integer("is_persistent"),
    # The client's address and the browser's name, as they were at the sign-in.
    text("address"),
    text("browser"),
    index("member_key"),
    index("started_at"),
)

# A link that works once, to set a password or to sign in. Deleting the row uses it up.
one_time_link: Final = Table(
    "one_time_link",
    metadata,
    text_key("token_hash"),
    # "password", "sign-in" or "first" (web/auth/one_time_links.py).
    text("purpose"),
    integer("member_key"),
    # The shop that a sign-in leads to; 0 for a password, which is one for all shops.
    integer("shop_key"),
    integer("expires_at"),
    index("member_key"),
)

# A link with which somebody joins a shop, of an address that may have no account yet
# (web/auth/invitations.py). Deleting the row ends it.
invitation: Final = Table(
    "invitation",
    metadata,
    text_key("token_hash"),
    integer("shop_key"),
    text("email"),
    text("permissions"),
    integer("expires_at"),
    UniqueConstraint("shop_key", "email"),
)

# Attempts to sign in, by account, network and browser (web/auth/sign_in_limits.py).
rate_bucket: Final = Table(
    "rate_bucket",
    metadata,
    text_key("subject"),
    # When all attempts are available again.
    integer("full_at"),
    index("full_at"),
)

audit_event: Final = Table(
    "audit_event",
    metadata,
    serial_key("audit_id"),
    integer("shop_key"),
    integer("at"),
    # A member's e-mail address, "operator", or "unknown" for attempts to sign in that were refused.
    text("actor"),
    # The client's address, its network for what was refused, or "command line".
    text("source_ip"),
    text("action"),
    text("detail"),
    # More than 1 for what was refused again within the hour.
    integer("times", 1),
    index("shop_key", "audit_id"),
    index("shop_key", "action", "at"),
)

# Secrets that the service creates once and all its processes share.
secret: Final = Table("secret", metadata, text_key("name"), text("value"))

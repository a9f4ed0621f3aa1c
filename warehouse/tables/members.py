"""Members of shops: who they are, what they may do, where they are signed in, and what was done."""

from typing import Final

from warehouse.columns import Index, Table, Unique, key, serial, text, text_key, whole
from warehouse.days import NEVER

# A person: one e-mail address and one password, whatever the number of shops.
member: Final = Table(
    "member",
    serial("member_key"),
    text("email"),
    # Argon2id; "" while no password is set.
    text("password_hash"),
    whole("created_at"),
    Unique("email"),
)

membership: Final = Table(
    "membership",
    key("shop_key"),
    key("member_key"),
    text("permissions"),
    whole("created_at"),
    whole("disabled_at", NEVER),
    Index("member_key"),
)

# A browser in which a member is signed in to one shop. Deleting the row ends it, in every process.
sign_in: Final = Table(
    "sign_in",
    text_key("token_hash"),
    whole("member_key"),
    whole("shop_key"),
    whole("started_at"),
    whole("seen_at"),
    Index("member_key"),
    Index("started_at"),
)

# A one-time link to set a password. Deleting the row uses it up.
password_link: Final = Table(
    "password_link",
    text_key("token_hash"),
    whole("member_key"),
    whole("expires_at"),
    Index("member_key"),
)

# How much of its allowance of attempts to sign in an account or an address has used
# (web/members/throttle.py).
allowance: Final = Table(
    "allowance",
    text_key("subject"),
    # When the whole allowance is there again.
    whole("whole_at"),
    Index("whole_at"),
)

audit_event: Final = Table(
    "audit_event",
    serial("audit_id"),
    whole("shop_key"),
    whole("at"),
    # A member's e-mail address, or "operator".
    text("who"),
    # The client's address, or "command line".
    text("place"),
    text("action"),
    text("what"),
    Index("shop_key", "audit_id"),
)

# What the service makes up once and every process of it must share.
secret: Final = Table("secret", text_key("name"), text("value"))

"""Sign-ins, kept in the warehouse so that each can be ended at once.

The browser holds a random token; the warehouse holds its hash. A sign-in ends when it has not been used
for IDLE_LIMIT, and when it is LIFETIME old; a persistent one when it is PERSISTENT_LIFETIME old, used or
not. Both end when the member signs out, ends it from elsewhere, is disabled, or gets a new password. Every
request looks it up: no process remembers it. Nothing here commits.
"""

from dataclasses import dataclass
from hashlib import sha256
from secrets import token_urlsafe
from typing import Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    and_,
    case,
    delete,
    func,
    insert,
    not_,
    or_,
    select,
    update,
)

from warehouse.domain.time import MICROS_PER_DAY, MICROS_PER_SECOND, NEVER
from warehouse.tables import member, membership, shop, sign_in
from warehouse.tables.base import words
from web.auth.audit import Change
from web.auth.permissions import ADD_SHOPS

IDLE_LIMIT: Final = 60 * 60 * MICROS_PER_SECOND
LIFETIME: Final = 12 * IDLE_LIMIT
PERSISTENT_LIFETIME: Final = 30 * MICROS_PER_DAY
# A use is recorded when the last recorded one is this old: not every request writes.
SEEN_INTERVAL: Final = 60 * MICROS_PER_SECOND
# Enough of a token's hash to tell a member's sign-ins apart.
_ID_LENGTH: Final = 16


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A member who is signed in to one shop. `seen_at` is the last recorded use, in microseconds;
    `is_persistent` says that the sign-in lasts while nobody uses it."""

    token: str
    member_key: int
    email: str
    shop_key: int
    shop_id: str
    permissions: tuple[str, ...]
    adds_shops: bool
    seen_at: int
    is_persistent: bool

    @property
    def rights(self) -> tuple[str, ...]:
        """The rights of the member: their permissions in the shop, and the right of an operator."""
        return (*self.permissions, ADD_SHOPS) if self.adds_shops else self.permissions

    @property
    def sign_in_id(self) -> str:
        return token_hash(self.token)[:_ID_LENGTH]


def new_token() -> str:
    """256 random bits in 43 characters that a URL can hold."""
    return token_urlsafe(32)


def token_hash(token: str) -> str:
    """The stored form of a token: a reader of the warehouse cannot use it."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def start(
    change: Change, member_key: int, shop_key: int, browser: str, *, is_persistent: bool = False
) -> str:
    """Sign a member in to a shop, and delete expired sign-ins. Returns the token."""
    token, now = new_token(), change.now
    row = {
        "token_hash": token_hash(token),
        "member_key": member_key,
        "shop_key": shop_key,
        "started_at": now,
        "seen_at": now,
        "is_persistent": int(is_persistent),
        "address": change.by.source_ip,
        "browser": browser,
    }
    change.connection.execute(insert(sign_in), row)
    expired = (
        select(sign_in.c.token_hash)
        .where(not_(_has_not_expired(now)))
        .with_for_update(skip_locked=True)
    )
    change.connection.execute(delete(sign_in).where(sign_in.c.token_hash.in_(expired)))
    return token


def find(connection: Connection, token: str, now: int) -> SignedIn | None:
    """The sign-in of a token, None where it has ended by the instant `now`, and where its member is
    disabled in the shop."""
    statement = _SELECT.where(sign_in.c.token_hash == token_hash(token), _has_not_expired(now))
    row = connection.execute(statement).one_or_none()
    return None if row is None else SignedIn(token=token, **row._mapping)


def list_shops(connection: Connection, member_key: int) -> list[tuple[int, str]]:
    """(shop_key, shop_id) of the shops that a member can enter, by shop_id."""
    rows = connection.execute(
        select(shop.c.shop_key, shop.c.shop_id)
        .join_from(membership, shop, shop.c.shop_key == membership.c.shop_key)
        .where(membership.c.member_key == member_key, membership.c.disabled_at == NEVER)
        .order_by(shop.c.shop_id)
    )
    return [(row.shop_key, row.shop_id) for row in rows]


def permissions_by_shop(connection: Connection, member_key: int) -> dict[int, tuple[str, ...]]:
    """The permissions of a member in each of these shops, by shop_key."""
    rows = connection.execute(
        select(membership.c.shop_key, words(membership.c.permissions)).where(
            membership.c.member_key == member_key, membership.c.disabled_at == NEVER
        )
    )
    return {row.shop_key: row.permissions for row in rows}


def switch_shop(connection: Connection, token: str, shop_key: int) -> None:
    """Move a sign-in to another shop; the caller checks that the member can enter it."""
    connection.execute(
        update(sign_in).where(sign_in.c.token_hash == token_hash(token)).values(shop_key=shop_key)
    )


def list_open(connection: Connection, member_key: int, now: int) -> list[Row]:
    """The sign-ins of a member in all their shops, the last used first: sign_in_id; started_at, seen_at,
    the last recorded use, and ends_at, at the latest (microseconds); is_persistent; address and browser, as
    they were at the sign-in."""
    rows = connection.execute(
        select(
            func.substr(sign_in.c.token_hash, 1, _ID_LENGTH).label("sign_in_id"),
            sign_in.c.started_at,
            sign_in.c.seen_at,
            _ENDS_AT.label("ends_at"),
            sign_in.c.is_persistent,
            sign_in.c.address,
            sign_in.c.browser,
        )
        .where(sign_in.c.member_key == member_key, _has_not_expired(now))
        .order_by(sign_in.c.seen_at.desc(), sign_in.c.token_hash)
    )
    return list(rows)


def record_use(connection: Connection, token: str, now: int) -> None:
    """Record a use at the instant `now`."""
    connection.execute(
        update(sign_in)
        .where(sign_in.c.token_hash == token_hash(token), sign_in.c.seen_at < now)
        .values(seen_at=now)
    )


def end(connection: Connection, token: str) -> None:
    connection.execute(delete(sign_in).where(sign_in.c.token_hash == token_hash(token)))


def end_others(connection: Connection, member: SignedIn, sign_in_id: str | None = None) -> int:
    """End the other sign-ins of a member, or one of them. Returns their number."""
    statement = delete(sign_in).where(
        sign_in.c.member_key == member.member_key, sign_in.c.token_hash != token_hash(member.token)
    )
    if sign_in_id is not None:
        statement = statement.where(func.substr(sign_in.c.token_hash, 1, _ID_LENGTH) == sign_in_id)
    return connection.execute(statement).rowcount


_SELECT: Final = (
    select(
        sign_in.c.member_key,
        member.c.email,
        sign_in.c.shop_key,
        shop.c.shop_id,
        words(membership.c.permissions),
        (member.c.adds_shops == 1).label("adds_shops"),
        sign_in.c.seen_at,
        (sign_in.c.is_persistent == 1).label("is_persistent"),
    )
    .join_from(sign_in, member, member.c.member_key == sign_in.c.member_key)
    .join(
        membership,
        (membership.c.member_key == sign_in.c.member_key)
        & (membership.c.shop_key == sign_in.c.shop_key),
    )
    .join(shop, shop.c.shop_key == sign_in.c.shop_key)
    .where(membership.c.disabled_at == NEVER)
)


# Used or not.
_ENDS_AT: Final = sign_in.c.started_at + case(
    (sign_in.c.is_persistent == 1, PERSISTENT_LIFETIME), else_=LIFETIME
)


def _has_not_expired(now: int) -> ColumnElement[bool]:
    is_in_use = or_(sign_in.c.is_persistent == 1, sign_in.c.seen_at > now - IDLE_LIMIT)
    return and_(is_in_use, now < _ENDS_AT)

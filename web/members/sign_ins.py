"""Sign-ins: where a member is signed in, kept in the warehouse so that each can be ended at once.

The browser holds a random token, the warehouse its hash. A sign-in ends when it has not been used for
IDLE, LIFETIME after it began, and as soon as the member signs out, is disabled, or the password is set
or reset. It is looked up on every request: nothing about it is remembered in a process.
"""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, Update, delete, insert, or_, select, update

from warehouse.days import MICROS_PER_SECOND, NEVER
from warehouse.schema import member, membership, shop, sign_in
from web.members.tokens import new_token, token_hash

IDLE: Final = 60 * 60 * MICROS_PER_SECOND
LIFETIME: Final = 12 * IDLE
# A use is recorded when the last recorded one is this long ago: no write per request.
SEEN_EVERY: Final = 60 * MICROS_PER_SECOND


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A member at work in one shop. `seen_at` is the last use on record."""

    token: str
    member_key: int
    email: str
    shop_key: int
    shop_id: str
    shop_name: str
    permissions: frozenset[str]
    seen_at: int


def start(connection: Connection, member_key: int, shop_key: int, now: int) -> str:
    """Sign a member in to a shop. Gives the token. Clears away what has expired."""
    token = new_token()
    row = {"token_hash": token_hash(token), "member_key": member_key, "shop_key": shop_key}
    connection.execute(insert(sign_in), {**row, "started_at": now, "seen_at": now})
    expired = (
        select(sign_in.c.token_hash)
        .where(or_(sign_in.c.started_at <= now - LIFETIME, sign_in.c.seen_at <= now - IDLE))
        .with_for_update(skip_locked=True)
    )
    connection.execute(delete(sign_in).where(sign_in.c.token_hash.in_(expired)))
    return token


def find(connection: Connection, token: str, now: int) -> SignedIn | None:
    """Who is signed in with a token, at the instant `now`."""
    row = connection.execute(
        select(sign_in, member.c.email, membership.c.permissions, shop.c.shop_id, shop.c.name)
        .join_from(sign_in, member, member.c.member_key == sign_in.c.member_key)
        .join(
            membership,
            (membership.c.member_key == sign_in.c.member_key)
            & (membership.c.shop_key == sign_in.c.shop_key),
        )
        .join(shop, shop.c.shop_key == sign_in.c.shop_key)
        .where(
            sign_in.c.token_hash == token_hash(token),
            sign_in.c.seen_at > now - IDLE,
            sign_in.c.started_at > now - LIFETIME,
            membership.c.disabled_at == NEVER,
        )
    ).one_or_none()
    if row is None:
        return None
    return SignedIn(
        token=token,
        member_key=row.member_key,
        email=row.email,
        shop_key=row.shop_key,
        shop_id=row.shop_id,
        shop_name=row.name or row.shop_id,
        permissions=frozenset(row.permissions.split()),
        seen_at=row.seen_at,
    )


def shops(connection: Connection, member_key: int) -> list[tuple[int, str]]:
    """Key and id of the shops that a member may enter, by id."""
    rows = connection.execute(
        select(shop.c.shop_key, shop.c.shop_id)
        .join_from(membership, shop, shop.c.shop_key == membership.c.shop_key)
        .where(membership.c.member_key == member_key, membership.c.disabled_at == NEVER)
        .order_by(shop.c.shop_id)
    )
    return [(row.shop_key, row.shop_id) for row in rows]


def enter(connection: Connection, token: str, shop_key: int) -> None:
    """Go on in another shop of the member's."""
    connection.execute(
        update(sign_in).where(sign_in.c.token_hash == token_hash(token)).values(shop_key=shop_key)
    )


def seen(token: str, now: int) -> Update:
    """The statement that records a use."""
    return (
        update(sign_in)
        .where(sign_in.c.token_hash == token_hash(token), sign_in.c.seen_at < now)
        .values(seen_at=now)
    )


def end(connection: Connection, token: str) -> None:
    connection.execute(delete(sign_in).where(sign_in.c.token_hash == token_hash(token)))


def end_all(connection: Connection, member_key: int, shop_key: int | None = None) -> None:
    """All of a member's, or those in one shop."""
    statement = delete(sign_in).where(sign_in.c.member_key == member_key)
    if shop_key is not None:
        statement = statement.where(sign_in.c.shop_key == shop_key)
    connection.execute(statement)

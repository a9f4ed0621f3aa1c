"""Links that work once: to set a password, to sign in to one shop without one, or to be the first member.

Looking at a link does not use it up; setting the password, or following the link, does. A member has at most
one of each purpose: a new one ends the previous one. A new password and a password that is reset end all
links of a member; disabling the member ends those to the shop. Nothing here commits.
"""

from typing import Any, Final, Literal

from sqlalchemy import Connection, Row, and_, delete, exists, insert, or_, select

from warehouse.domain.time import MICROS_PER_DAY, MICROS_PER_SECOND, NEVER
from warehouse.tables import member, membership, one_time_link, shop
from web.auth.audit import Change
from web.auth.sessions import new_token, token_hash

Purpose = Literal["password", "sign-in", "first"]

LIFETIMES: Final[dict[Purpose, int]] = {
    "password": 3 * MICROS_PER_DAY,
    "sign-in": 60 * 60 * MICROS_PER_SECOND,
    "first": MICROS_PER_DAY,
}


def create(change: Change, purpose: Purpose, member_key: int, shop_key: int = 0) -> str:
    """The token of a new link, valid for its lifetime from now on. A link to sign in leads to a shop."""
    own = one_time_link.c.member_key == member_key
    change.connection.execute(delete(one_time_link).where(own, one_time_link.c.purpose == purpose))
    token = new_token()
    row = {
        "token_hash": token_hash(token),
        "purpose": purpose,
        "member_key": member_key,
        "shop_key": shop_key,
        "expires_at": change.now + LIFETIMES[purpose],
    }
    change.connection.execute(insert(one_time_link), row)
    return token


def find(connection: Connection, purpose: Purpose, token: str, now: int) -> Row | None:
    """A link's member_key, email, shop_key and shop_id (0 and None with a link to set a password).

    None for an unknown, used or expired link; and where its member could not sign in: they are disabled in
    the shop, or are in no shop and may add none.
    """
    may_enter = exists().where(
        membership.c.member_key == one_time_link.c.member_key,
        membership.c.disabled_at == NEVER,
        or_(one_time_link.c.shop_key == 0, one_time_link.c.shop_key == membership.c.shop_key),
    )
    adds_first = and_(one_time_link.c.shop_key == 0, member.c.adds_shops == 1)
    return connection.execute(
        select(member.c.member_key, member.c.email, one_time_link.c.shop_key, shop.c.shop_id)
        .join_from(one_time_link, member, member.c.member_key == one_time_link.c.member_key)
        .outerjoin(shop, shop.c.shop_key == one_time_link.c.shop_key)
        .where(*_is_valid(purpose, token, now), or_(may_enter, adds_first))
    ).one_or_none()


def create_first(change: Change) -> str | None:
    """The token of a link with which somebody becomes the first member; None where a member can sign in. It
    is of nobody yet (member 0), and works until somebody has a password."""
    return create(change, "first", 0) if _is_nobody_here(change.connection) else None


def is_first(connection: Connection, token: str, now: int) -> bool:
    """Whether a link to be the first member works."""
    valid = select(one_time_link.c.token_hash).where(*_is_valid("first", token, now))
    return connection.scalar(valid) is not None and _is_nobody_here(connection)


def use_up(connection: Connection, purpose: Purpose, token: str, now: int) -> bool:
    """Delete a link. True where it was still valid; of several calls at once, one gets True."""
    valid = _is_valid(purpose, token, now)
    return connection.execute(delete(one_time_link).where(*valid)).rowcount == 1


def _is_nobody_here(connection: Connection) -> bool:
    statement = select(member.c.member_key).where(member.c.password_hash != "").limit(1)
    return connection.scalar(statement) is None


def _is_valid(purpose: Purpose, token: str, now: int) -> tuple[Any, ...]:
    link = one_time_link.c
    return link.token_hash == token_hash(token), link.purpose == purpose, link.expires_at > now

"""One-time links that sign a member in to one shop, without a password. Looking at a link does not use it up;
following it does.

The operator prints a link and gives it to the member. A member has at most one: a new one ends the previous
one. So do a new password, a password that is reset, and disabling the member. Nothing here commits.
"""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, delete, insert

from warehouse.domain.time import MICROS_PER_SECOND
from warehouse.tables import sign_in_link
from web.auth import sessions
from web.auth.audit import Actor, record
from web.auth.sessions import new_token, select_token, token_hash

LIFETIME: Final = 60 * 60 * MICROS_PER_SECOND


@dataclass(frozen=True, slots=True)
class SignInLink:
    """A link that can be followed: its member, and the shop that it leads to."""

    token: str
    member_key: int
    email: str
    shop_key: int
    shop_id: str


def create(connection: Connection, member_key: int, shop_key: int, now: int) -> str:
    """The token of a new link, valid for LIFETIME from now on."""
    end_all(connection, member_key)
    token = new_token()
    row = {"token_hash": token_hash(token), "member_key": member_key, "shop_key": shop_key}
    connection.execute(insert(sign_in_link), {**row, "expires_at": now + LIFETIME})
    return token


def find(connection: Connection, token: str, now: int) -> SignInLink | None:
    """None for an unknown, used or expired link, and for a member who is disabled in the shop."""
    statement = select_token(sign_in_link, token).where(sign_in_link.c.expires_at > now)
    row = connection.execute(statement).one_or_none()
    if row is None:
        return None
    return SignInLink(token, row.member_key, row.email, row.shop_key, row.shop_id)


def follow(
    connection: Connection, link: SignInLink, address: str, browser: str, now: int
) -> str | None:
    """Use a link up and sign its member in. Returns the token of the sign-in; of several calls at once, one
    does, and the others get None."""
    same = sign_in_link.c.token_hash == token_hash(link.token)
    if connection.execute(delete(sign_in_link).where(same)).rowcount != 1:
        return None
    by = Actor(link.email, address)
    record(connection, link.shop_key, by, "signed_in", "with a one-time link", now)
    return sessions.start(connection, link.member_key, link.shop_key, address, browser, now)


def end_all(connection: Connection, member_key: int, shop_key: int | None = None) -> None:
    """End a member's links to all shops, or to one."""
    statement = delete(sign_in_link).where(sign_in_link.c.member_key == member_key)
    if shop_key is not None:
        statement = statement.where(sign_in_link.c.shop_key == shop_key)
    connection.execute(statement)

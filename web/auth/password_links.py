"""One-time links to set a password. Opening a link does not use it up; setting the password does.

A member has at most one link: a new one ends the previous one. Nothing here commits.
"""

from typing import Final

from sqlalchemy import Connection, delete, insert, select

from warehouse.domain.time import MICROS_PER_DAY
from warehouse.tables import member, password_link
from web.auth.sessions import new_token, token_hash

LIFETIME: Final = 3 * MICROS_PER_DAY


def create(connection: Connection, member_key: int, now: int) -> str:
    """The token of a new link, valid for LIFETIME from now on."""
    end_all(connection, member_key)
    token = new_token()
    row = {"token_hash": token_hash(token), "member_key": member_key}
    connection.execute(insert(password_link), {**row, "expires_at": now + LIFETIME})
    return token


def owner(connection: Connection, token: str, now: int) -> tuple[int, str] | None:
    """(member_key, e-mail address) of the link's member; None for an unknown, used or expired link."""
    row = connection.execute(
        select(member.c.member_key, member.c.email)
        .join_from(password_link, member, member.c.member_key == password_link.c.member_key)
        .where(password_link.c.token_hash == token_hash(token), password_link.c.expires_at > now)
    ).one_or_none()
    return None if row is None else (row.member_key, row.email)


def use_up(connection: Connection, token: str, now: int) -> bool:
    """Delete a link. True where it was still valid; of several calls at once, one gets True."""
    statement = delete(password_link).where(
        password_link.c.token_hash == token_hash(token), password_link.c.expires_at > now
    )
    return connection.execute(statement).rowcount == 1


def end_all(connection: Connection, member_key: int) -> None:
    """End the links of a member."""
    connection.execute(delete(password_link).where(password_link.c.member_key == member_key))

"""One-time links to set a password. Looking at one leaves it as it is; setting the password uses it up.

A member has at most one: a new one ends the one before.
"""

from typing import Final

from sqlalchemy import Connection, delete, insert, select

from warehouse.days import MICROS_PER_DAY
from warehouse.schema import member, password_link
from web.members.tokens import new_token, token_hash

LIFETIME: Final = 3 * MICROS_PER_DAY


def new_link(connection: Connection, member_key: int, now: int) -> str:
    """The token of a link that is valid from now on for LIFETIME."""
    end_all(connection, member_key)
    token = new_token()
    row = {"token_hash": token_hash(token), "member_key": member_key}
    connection.execute(insert(password_link), {**row, "expires_at": now + LIFETIME})
    return token


def owner(connection: Connection, token: str, now: int) -> tuple[int, str] | None:
    """Whose link it is (key and e-mail); None where it is unknown, used or expired."""
    row = connection.execute(
        select(member.c.member_key, member.c.email)
        .join_from(password_link, member, member.c.member_key == password_link.c.member_key)
        .where(password_link.c.token_hash == token_hash(token), password_link.c.expires_at > now)
    ).one_or_none()
    return None if row is None else (row.member_key, row.email)


def use_up(connection: Connection, token: str, now: int) -> bool:
    """Whether the link was still there to be used; of several at once, one."""
    statement = delete(password_link).where(
        password_link.c.token_hash == token_hash(token), password_link.c.expires_at > now
    )
    return connection.execute(statement).rowcount == 1


def end_all(connection: Connection, member_key: int) -> None:
    connection.execute(delete(password_link).where(password_link.c.member_key == member_key))

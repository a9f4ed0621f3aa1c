"""From an e-mail address and a password to a sign-in.

The same work and the same answer for a wrong password, an unknown account, one without a password and
one that is disabled: none says which it is.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final

from sqlalchemy import Connection, select, update

from warehouse.schema import member
from web.audit import Actor, record
from web.members import passwords, sign_ins, throttle

Writer = Callable[[], AbstractContextManager[Connection]]

REFUSED: Final = "The e-mail address or the password is wrong."


class Refused(Exception):
    """Wrong, unknown, disabled."""


class Throttled(Exception):
    """Too many attempts; `seconds` until the next."""

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds)
        self.seconds = seconds


def sign_in(write: Writer, email: str, password: str, address: str, now: int) -> str:
    """The token of a new sign-in, to the first of the member's shops. `write` opens a connection to
    write with; none is held while the password is hashed. Raises Refused, Throttled."""
    email = email.strip().lower()
    with write() as connection:
        wait = throttle.admit(connection, throttle.Attempt(email, address), now)
        row = connection.execute(select(member).where(member.c.email == email)).one_or_none()
        shops = sign_ins.shops(connection, row.member_key if row else 0)
        connection.commit()
    if wait:
        raise Throttled(wait)
    right = passwords.matches(row.password_hash if row else "", password)
    if row is None or not right or not shops:
        raise Refused
    fresh = passwords.hashed(password) if passwords.is_outdated(row.password_hash) else ""
    with write() as connection:
        unchanged = (member.c.member_key == row.member_key) & (
            member.c.password_hash == row.password_hash
        )
        # The password may have been reset while it was compared.
        values = {"password_hash": fresh or row.password_hash}
        if connection.execute(update(member).where(unchanged).values(values)).rowcount != 1:
            raise Refused
        throttle.give_back(connection, email)
        token = sign_ins.start(connection, row.member_key, shops[0][0], now)
        record(connection, shops[0][0], Actor(email, address), "signed_in", "", now)
        connection.commit()
    return token

"""Signing in with an e-mail address and a password.

A wrong password, an unknown account, an account without a password and a disabled one take the same
work and get the same answer, so that the answer does not tell which of them it is. A refusal is
written to the trail afterwards (`record_refusal`), for the same reason.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager

from sqlalchemy import Connection, select, update

from warehouse.tables import member, membership
from web.auth import passwords, sessions, sign_in_limits
from web.auth.audit import UNKNOWN, Actor, record, record_repeated
from web.auth.gcra import client_network
from web.auth.sign_in_limits import Attempt, KnownRefusals

# Opens a connection to write with.
Writer = Callable[[], AbstractContextManager[Connection]]


class SignInRefused(Exception):
    """The password is wrong, or nobody with this address can sign in."""


class TooManyAttempts(SignInRefused):
    """The next attempt is allowed in `retry_after` seconds; the message is a sentence."""

    def __init__(self, retry_after: int) -> None:
        minutes = -(-retry_after // 60)
        super().__init__(
            f"Too many attempts. Try again in {minutes} minute{'s' if minutes > 1 else ''}."
        )
        self.retry_after = retry_after


def sign_in(
    write: Writer,
    known: KnownRefusals,
    attempt: Attempt,
    password: str,
    browser: str,
    now: int,
) -> str:
    """Sign a member in to the first of their shops, and return the token. `browser` is its name. Commits.

    No connection is open while the password is hashed. Raises SignInRefused, TooManyAttempts, and Busy
    before the attempt is counted.
    """
    if retry_after := known.retry_after(attempt, now):
        raise TooManyAttempts(retry_after)
    with passwords.place_to_hash(client_network(attempt.address)):
        return _sign_in(write, known, attempt, password, browser, now)


def _sign_in(
    write: Writer,
    known: KnownRefusals,
    attempt: Attempt,
    password: str,
    browser: str,
    now: int,
) -> str:
    with write() as connection:
        retry_after = sign_in_limits.count(connection, known, attempt, now)
        row = connection.execute(
            select(member).where(member.c.email == attempt.email)
        ).one_or_none()
        shops = sessions.list_shops(connection, row.member_key if row else 0)
        connection.commit()
    if retry_after:
        raise TooManyAttempts(retry_after)
    matches = passwords.matches(row.password_hash if row else "", password)
    if row is None or not matches or not shops:
        raise SignInRefused
    stored_hash = row.password_hash
    new_hash = (
        passwords.hash_password(password) if passwords.needs_rehash(stored_hash) else stored_hash
    )
    with write() as connection:
        # The password may have been reset since it was read: then no row matches.
        unchanged = update(member).where(
            member.c.member_key == row.member_key, member.c.password_hash == stored_hash
        )
        if connection.execute(unchanged.values(password_hash=new_hash)).rowcount != 1:
            raise SignInRefused
        sign_in_limits.reset(connection, attempt)
        shop_key, _ = shops[0]
        by = Actor(attempt.email, attempt.address)
        token = sessions.start(connection, row.member_key, shop_key, by.source_ip, browser, now)
        record(connection, shop_key, by, "signed_in", "", now)
        connection.commit()
    return token


def record_refusal(connection: Connection, attempt: Attempt, now: int) -> None:
    """Write an attempt that was refused to the trails of the account's shops. An account that does not
    exist has none."""
    by = Actor(UNKNOWN, client_network(attempt.address))
    shops = (
        select(membership.c.shop_key)
        .join_from(membership, member, member.c.member_key == membership.c.member_key)
        .where(member.c.email == attempt.email)
        .order_by(membership.c.shop_key)
    )
    for shop_key in connection.execute(shops).scalars().all():
        record_repeated(connection, shop_key, by, "sign_in_refused", attempt.email, now)

"""Signing in with a password or a one-time link, and changing the password.

A wrong password, an unknown account, an account without a password and a disabled one take the same
work and get the same answer, so that the answer does not tell which of them it is. A refusal is
written to the trail afterwards (`record_refusal`), for the same reason.

No connection is open while a password is scored or hashed: on SQLite all writes of all shops would wait.
"""

from collections.abc import Collection

from sqlalchemy import Connection, Row, select, update

from warehouse.tables import member, membership
from web.auth import members, one_time_links, passwords, sessions, sign_in_limits
from web.auth.audit import UNKNOWN, Actor, Change
from web.auth.sessions import SignedIn
from web.auth.sign_in_limits import Attempt, KnownRefusals, SignInRefused, Writer, counted
from web.limits.gcra import client_network


def sign_in(
    write: Writer,
    known: KnownRefusals,
    attempt: Attempt,
    password: str,
    browser: str,
    now: int,
    *,
    is_persistent: bool = False,
) -> str:
    """Sign a member in to the first of their shops, and return the token. `browser` is its name;
    `is_persistent` whether it stays signed in unused. Commits.

    Raises SignInRefused, TooManyAttempts, and Busy before the attempt is counted.
    """
    # Before it takes a place to hash: who goes on trying takes none from others.
    known.require(attempt, now)
    with passwords.place_to_hash(client_network(attempt.address)):
        with counted(write, known, attempt, now) as connection:
            account = select(member).where(member.c.email == attempt.email)
            row = connection.execute(account).one_or_none()
            shops = sessions.list_shops(connection, row.member_key if row else 0)
        matches = passwords.matches(row.password_hash if row else "", password)
        if row is None or not matches or not shops:
            raise SignInRefused
        old_hash = new_hash = row.password_hash
        if passwords.needs_rehash(old_hash):
            new_hash = passwords.hash_password(password)
    with write() as connection:
        # The password may have been reset since it was read: then no row matches.
        unchanged = update(member).where(
            member.c.member_key == row.member_key, member.c.password_hash == old_hash
        )
        if connection.execute(unchanged.values(password_hash=new_hash)).rowcount != 1:
            raise SignInRefused
        sign_in_limits.reset(connection, attempt)
        shop_key, _ = shops[0]
        change = Change(connection, Actor(attempt.email, attempt.address), now)
        token = sessions.start(
            change, row.member_key, shop_key, browser, is_persistent=is_persistent
        )
        change.record(shop_key, "signed_in")
        connection.commit()
    return token


def record_refusal(connection: Connection, attempt: Attempt, now: int) -> None:
    """Write an attempt that was refused to the trails of the account's shops. An account that does not
    exist has none."""
    change = Change(connection, Actor(UNKNOWN, client_network(attempt.address)), now)
    shops = (
        select(membership.c.shop_key)
        .join_from(membership, member, member.c.member_key == membership.c.member_key)
        .where(member.c.email == attempt.email)
        .order_by(membership.c.shop_key)
    )
    for shop_key in connection.scalars(shops).all():
        change.record_repeated(shop_key, "sign_in_refused", attempt.email)


def follow_link(
    change: Change, token: str, link: Row, browser: str, *, is_persistent: bool = False
) -> str | None:
    """Use up a link that `one_time_links.find` found, and sign its member in. Returns the token of the
    sign-in; of several calls at once, one does, and the others get None. Does not commit."""
    if not one_time_links.use_up(change.connection, "sign-in", token, change.now):
        return None
    change.record(link.shop_key, "signed_in", "with a one-time link")
    return sessions.start(
        change, link.member_key, link.shop_key, browser, is_persistent=is_persistent
    )


def change_password(
    write: Writer,
    known: KnownRefusals,
    signed_in: SignedIn,
    old: str,
    new: str,
    *,
    words: Collection[str],
    by: Actor,
    browser: str,
    now: int,
) -> str:
    """Store a member's new password, and return the token of a new sign-in in place of all others. It is
    persistent where the one that changes the password is.

    `words` are those of `passwords.require_strong`. The attempt is counted before anything is scored.
    Commits. Raises SignInRefused for a wrong old password and for a sign-in that has ended,
    TooManyAttempts, Weak and Busy.
    """
    member_key, shop_key = signed_in.member_key, signed_in.shop_key
    # A stolen sign-in has few attempts to find the password, and takes none from the member.
    attempt = Attempt(signed_in.email, by.source_ip, f"of {signed_in.sign_in_id}")
    with counted(write, known, attempt, now) as connection:
        old_hash = members.password_hash(connection, member_key)
    passwords.require_strong(new, words)
    network = client_network(by.source_ip)
    with passwords.place_to_hash(network):
        is_old = passwords.matches(old_hash, old)
        new_hash = passwords.hash_password(new) if is_old else ""
    with write() as connection:
        if not is_old:
            refused = Change(connection, Actor(by.name, network), now)
            refused.record_repeated(shop_key, "password_change_refused")
            connection.commit()
            raise SignInRefused
        # Both may have ended meanwhile.
        unchanged = members.password_hash(connection, member_key) == old_hash
        if not unchanged or sessions.find(connection, signed_in.token, now) is None:
            raise SignInRefused
        sign_in_limits.reset(connection, attempt)
        change = Change(connection, by, now)
        members.set_password(change, member_key, new_hash, "password_changed")
        token = sessions.start(
            change, member_key, shop_key, browser, is_persistent=signed_in.is_persistent
        )
        connection.commit()
    return token

"""A signed-in member changes their password: the old one is asked, and all their other sign-ins end."""

from collections.abc import Collection

from web.auth import members, passwords, sessions, sign_in_limits
from web.auth.audit import Actor, record_repeated
from web.auth.gcra import client_network
from web.auth.sessions import SignedIn
from web.auth.sign_in import SignInRefused, TooManyAttempts, Writer
from web.auth.sign_in_limits import Attempt, KnownRefusals


def change_password(
    write: Writer,
    known: KnownRefusals,
    member: SignedIn,
    old: str,
    new: str,
    *,
    words: Collection[str],
    by: Actor,
    browser: str,
    now: int,
) -> str:
    """Store the new password, and return the token of a new sign-in in place of all others.

    `words` are those of `passwords.require_strong`. No connection is open while passwords are scored or
    hashed, and an attempt is counted before. Commits. Raises SignInRefused for a wrong old password and for
    a sign-in that has ended, TooManyAttempts, Weak and Busy.
    """
    # A stolen sign-in has few attempts to find the password, and takes none from the member.
    attempt = Attempt(member.email, by.source_ip, f"of {member.sign_in_id}")
    if retry_after := known.retry_after(attempt, now):
        raise TooManyAttempts(retry_after)
    with write() as connection:
        retry_after = sign_in_limits.count(connection, known, attempt, now)
        old_hash = members.password_hash(connection, member.member_key)
        connection.commit()
    if retry_after:
        raise TooManyAttempts(retry_after)
    passwords.require_strong(new, words)
    network = client_network(by.source_ip)
    with passwords.place_to_hash(network):
        is_old = passwords.matches(old_hash, old)
        new_hash = passwords.hash_password(new) if is_old else ""
    with write() as connection:
        if not is_old:
            who = Actor(by.name, network)
            record_repeated(connection, member.shop_key, who, "password_change_refused", "", now)
            connection.commit()
            raise SignInRefused
        # Both may have ended meanwhile.
        unchanged = members.password_hash(connection, member.member_key) == old_hash
        if not unchanged or sessions.find(connection, member.token, now) is None:
            raise SignInRefused
        sign_in_limits.reset(connection, attempt)
        members.set_password(
            connection, member.member_key, new_hash, by=by, now=now, action="password_changed"
        )
        token = sessions.start(
            connection, member.member_key, member.shop_key, by.source_ip, browser, now
        )
        connection.commit()
    return token

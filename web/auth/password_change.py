"""A signed-in member changes their password: the old one is asked, and all their other sign-ins end."""

from sqlalchemy import Connection

from web.auth import members, passwords, sessions, sign_in_limits
from web.auth.audit import Actor, record_repeated
from web.auth.gcra import client_network
from web.auth.sessions import SignedIn
from web.auth.sign_in import SignInRefused, TooManyAttempts
from web.auth.sign_in_limits import Attempt


def change_password(
    connection: Connection,
    member: SignedIn,
    old: str,
    new: str,
    *,
    by: Actor,
    browser: str,
    now: int,
) -> str:
    """Store the new password, and return the token of a new sign-in in place of all others.

    Commits twice: no transaction is open while passwords are hashed. Raises SignInRefused for a wrong old
    password and for a sign-in that has ended, TooManyAttempts, and Busy before the attempt is counted.
    """
    # A stolen sign-in has few attempts to find the password, and takes none from the member.
    attempt = Attempt(member.email, by.source_ip, f"of {member.sign_in_id}")
    connection.rollback()
    with passwords.place_to_hash():
        retry_after = sign_in_limits.count(connection, attempt, now)
        old_hash = members.password_hash(connection, member.member_key)
        connection.commit()
        if retry_after:
            raise TooManyAttempts(retry_after)
        if not passwords.matches(old_hash, old):
            network = Actor(by.name, client_network(by.source_ip))
            record_repeated(
                connection, member.shop_key, network, "password_change_refused", "", now
            )
            connection.commit()
            raise SignInRefused
        new_hash = passwords.hash_password(new)
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

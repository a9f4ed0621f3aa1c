"""Invitations: a link with which somebody joins a shop, made by one of its members and shown to them once.

No e-mail is sent, so a link does not prove that an address is its holder's. Therefore a link never sets the
password of an account that is there: who has one signs in first. Otherwise a member of one shop could invite
an address, take the link, and be in another shop that has the same person. Nothing here commits.
"""

from collections.abc import Collection
from typing import Final

from sqlalchemy import Connection, Row, delete, func, insert, select

from warehouse.domain.time import MICROS_PER_DAY, NEVER
from warehouse.tables import invitation, member, membership, shop
from warehouse.tables.base import words
from web.auth import members
from web.auth.audit import Change, OperatorError
from web.auth.permissions import require_given
from web.auth.sessions import new_token, token_hash

LIFETIME: Final = 7 * MICROS_PER_DAY
# Invitations of a shop that wait at once.
MOST: Final = 100

_own: Final = invitation.c


def create(
    change: Change, shop_key: int, email: str, permissions: Collection[str], own: Collection[str]
) -> str:
    """The token of a new link, in place of an earlier one to this address. `own` are the permissions of who
    invites: raises NotAllowed where one of the others is given. Raises OperatorError for a member."""
    require_given(own, permissions)
    connection = change.connection
    connection.execute(delete(invitation).where(_own.expires_at <= change.now))
    same = _own.shop_key == shop_key, _own.email == email
    connection.execute(delete(invitation).where(*same))
    if _is_member(connection, shop_key, email):
        raise OperatorError(f"{email} is a member of this shop already")
    waiting = select(func.count()).select_from(invitation).where(_own.shop_key == shop_key)
    if (connection.scalar(waiting) or 0) >= MOST:
        raise OperatorError(f"{MOST} invitations wait already; withdraw one first")
    token = new_token()
    row = {
        "token_hash": token_hash(token),
        "shop_key": shop_key,
        "email": email,
        "permissions": " ".join(members.in_order(permissions)),
        "expires_at": change.now + LIFETIME,
    }
    connection.execute(insert(invitation), row)
    change.record(shop_key, "member_invited", f"{email}: {members.described(permissions)}")
    return token


def list_open(connection: Connection, shop_key: int, now: int) -> list[Row]:
    """email, permissions and expires_at of the invitations of a shop that wait, by address."""
    columns = select(_own.email, words(_own.permissions), _own.expires_at)
    waiting = columns.where(_own.shop_key == shop_key, _own.expires_at > now)
    return list(connection.execute(waiting.order_by(_own.email)))


def withdraw(change: Change, shop_key: int, email: str) -> bool:
    """End the invitation of an address. True where there was one."""
    same = _own.shop_key == shop_key, _own.email == email
    is_ended = change.connection.execute(delete(invitation).where(*same)).rowcount == 1
    if is_ended:
        change.record(shop_key, "invitation_withdrawn", email)
    return is_ended


def find(connection: Connection, token: str, now: int) -> Row | None:
    """An invitation's email, permissions, shop_key and shop_id, and whether the address `has_account`:
    somebody signs in with it, or has a link to. None for an unknown, used or expired link."""
    has_account = (
        select(member.c.member_key)
        .where(
            member.c.email == _own.email,
            (member.c.password_hash != "")
            | (member.c.adds_shops == 1)
            | select(membership.c.member_key)
            .where(membership.c.member_key == member.c.member_key)
            .exists(),
        )
        .exists()
    )
    return connection.execute(
        select(
            _own.email,
            words(_own.permissions),
            _own.shop_key,
            shop.c.shop_id,
            has_account.label("has_account"),
        )
        .join_from(invitation, shop, shop.c.shop_key == _own.shop_key)
        .where(_own.token_hash == token_hash(token), _own.expires_at > now)
    ).one_or_none()


def accept(change: Change, token: str, *, is_new: bool) -> tuple[int, int] | None:
    """Make the invited person a member; returns the keys of the person and of the shop. None where the link
    works no more, or the person has a password although they are new; of several calls at once, one gets
    a member."""
    found = find(change.connection, token, change.now)
    used = delete(invitation).where(_own.token_hash == token_hash(token))
    if found is None or change.connection.execute(used).rowcount != 1:
        return None
    person = members.find_or_add_person(change, found.email)
    # Two invitations of one address can be accepted at once.
    if is_new and members.password_hash(change.connection, person.member_key):
        return None
    if not _is_member(change.connection, found.shop_key, found.email):
        members.add(change, found.shop_key, found.email, found.permissions)
    return person.member_key, found.shop_key


def _is_member(connection: Connection, shop_key: int, email: str) -> bool:
    statement = (
        select(membership.c.member_key)
        .join_from(membership, member, member.c.member_key == membership.c.member_key)
        .where(
            membership.c.shop_key == shop_key,
            membership.c.disabled_at == NEVER,
            member.c.email == email,
        )
    )
    return connection.scalar(statement) is not None

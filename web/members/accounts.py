"""Members as the operator keeps them: add, list, permissions, disable, passwords.

A person is one e-mail address and one password; a membership gives them permissions in one shop. Every
change is written to the audit trail of the shop, and ends the sign-ins that it contradicts.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Row, insert, select, update

from warehouse.days import NEVER
from warehouse.schema import member, membership, shop
from warehouse.vocabulary import PERMISSIONS
from web.audit import Actor, record
from web.members import links, sign_ins, throttle

_EMAIL: Final = re.compile(r"[^@\s\x00-\x1f<>,;]+@[^@\s\x00-\x1f<>,;]+\.[^@\s\x00-\x1f<>,;]+")
_LONGEST_EMAIL: Final = 254


class UnknownMember(LookupError):
    """The shop has no such member."""


class AlreadyMember(ValueError):
    """The shop has this member already."""


@dataclass(frozen=True)
class Membership:
    """A member of a shop. Instants in microseconds; `disabled_at` None while not disabled."""

    member_key: int
    shop_key: int
    shop_id: str
    email: str
    permissions: tuple[str, ...]
    has_password: bool
    created_at: int
    disabled_at: int | None

    @property
    def state(self) -> str:
        """`disabled`, `invited` (no password yet) or `active`."""
        if self.disabled_at is not None:
            return "disabled"
        return "active" if self.has_password else "invited"


def plain_email(text: str) -> str:
    """An address as it is stored and compared. Raises ValueError where it is none."""
    email = text.strip().lower()
    if len(email) > _LONGEST_EMAIL or not _EMAIL.fullmatch(email):
        raise ValueError(f"{text!r} is no e-mail address")
    return email


def add(
    connection: Connection,
    shop_key: int,
    email: str,
    permissions: Collection[str],
    *,
    by: Actor,
    now: int,
) -> str | None:
    """Make a person a member of a shop, or enable a disabled one again. Gives the token of a link to
    set a password, None where they have one. Raises AlreadyMember."""
    row = connection.execute(select(member).where(member.c.email == email)).one_or_none()
    if row is None:
        member_key = connection.execute(
            insert(member).returning(member.c.member_key), {"email": email, "created_at": now}
        ).scalar_one()
    else:
        member_key = row.member_key
    mine = (membership.c.shop_key == shop_key) & (membership.c.member_key == member_key)
    known = connection.execute(select(membership.c.disabled_at).where(mine)).scalar_one_or_none()
    if known == NEVER:
        raise AlreadyMember(email)
    values = {"permissions": _text(permissions), "disabled_at": NEVER}
    if known is None:
        key = {"shop_key": shop_key, "member_key": member_key, "created_at": now}
        connection.execute(insert(membership), key | values)
    else:
        connection.execute(update(membership).where(mine).values(values))
    record(connection, shop_key, by, "member_added", f"{email}: {_listed(permissions)}", now)
    if row is not None and row.password_hash:
        return None
    return links.new_link(connection, member_key, now)


def find(connection: Connection, shop_id: str, email: str) -> Membership:
    """Raises UnknownMember."""
    found = [one for one in list_members(connection, shop_id) if one.email == email]
    if not found:
        raise UnknownMember(email)
    return found[0]


def list_members(connection: Connection, shop_id: str | None = None) -> list[Membership]:
    """The members of a shop, or of all, by shop and address."""
    statement = (
        select(membership, member.c.email, member.c.password_hash, shop.c.shop_id)
        .join_from(membership, member, member.c.member_key == membership.c.member_key)
        .join(shop, shop.c.shop_key == membership.c.shop_key)
        .order_by(shop.c.shop_id, member.c.email)
    )
    if shop_id is not None:
        statement = statement.where(shop.c.shop_id == shop_id)
    return [_membership(row) for row in connection.execute(statement)]


def set_permissions(
    connection: Connection, who: Membership, permissions: Collection[str], *, by: Actor, now: int
) -> None:
    connection.execute(update(membership).where(_is(who)).values(permissions=_text(permissions)))
    before, after = _listed(who.permissions), _listed(permissions)
    what = f"{who.email}: {after} (before: {before})"
    record(connection, who.shop_key, by, "permissions_set", what, now)


def disable(connection: Connection, who: Membership, *, by: Actor, now: int) -> None:
    """From the next request on, whatever they are signed in with. Their keys stay as they are."""
    connection.execute(update(membership).where(_is(who)).values(disabled_at=now))
    sign_ins.end_all(connection, who.member_key, who.shop_key)
    record(connection, who.shop_key, by, "member_disabled", who.email, now)


def reset_password(connection: Connection, who: Membership, *, by: Actor, now: int) -> str:
    """The old password and every sign-in end at once. Gives the token of a link to set a new one."""
    _store(connection, who.member_key, "")
    _record_everywhere(connection, who.member_key, by, "password_reset", who.email, now)
    return links.new_link(connection, who.member_key, now)


def set_password(
    connection: Connection, member_key: int, password_hash: str, *, by: Actor, now: int
) -> None:
    """Every sign-in and link of before ends, and the account may be tried anew."""
    email = _store(connection, member_key, password_hash)
    links.end_all(connection, member_key)
    throttle.give_back(connection, email)
    _record_everywhere(connection, member_key, by, "password_set", email, now)


def _store(connection: Connection, member_key: int, password_hash: str) -> str:
    """Gives the member's address."""
    email = connection.execute(
        update(member)
        .where(member.c.member_key == member_key)
        .values(password_hash=password_hash)
        .returning(member.c.email)
    ).scalar_one()
    sign_ins.end_all(connection, member_key)
    return str(email)


def _record_everywhere(
    connection: Connection, member_key: int, by: Actor, action: str, what: str, now: int
) -> None:
    """A password is the same in every shop of its member: each of them sees it change."""
    shops = select(membership.c.shop_key).where(membership.c.member_key == member_key)
    for shop_key in connection.execute(shops.order_by(membership.c.shop_key)).scalars().all():
        record(connection, shop_key, by, action, what, now)


def _is(who: Membership) -> Any:
    return (membership.c.shop_key == who.shop_key) & (membership.c.member_key == who.member_key)


def _text(permissions: Collection[str]) -> str:
    return " ".join(one for one in PERMISSIONS if one in permissions)


def _listed(permissions: Collection[str]) -> str:
    return ", ".join(one for one in PERMISSIONS if one in permissions) or "no permissions"


def _membership(row: Row[Any]) -> Membership:
    return Membership(
        member_key=row.member_key,
        shop_key=row.shop_key,
        shop_id=row.shop_id,
        email=row.email,
        permissions=tuple(row.permissions.split()),
        has_password=bool(row.password_hash),
        created_at=row.created_at,
        disabled_at=None if row.disabled_at == NEVER else row.disabled_at,
    )

"""Members: add, list, set permissions, disable, and change passwords.

A person has one e-mail address and one password; a membership gives them permissions in one shop. Every
change is written to the shop's audit trail and ends the sign-ins that it contradicts. Nothing here
commits.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Row, insert, select, update

from warehouse import tables
from warehouse.domain.time import NEVER
from warehouse.domain.vocabulary import PERMISSIONS
from web.auth import password_links, sessions, sign_in_limits, sign_in_links
from web.auth.audit import Actor, record

_EMAIL: Final = re.compile(r"[^@\s\x00-\x1f<>,;]+@[^@\s\x00-\x1f<>,;]+\.[^@\s\x00-\x1f<>,;]+")
_MAX_EMAIL_LENGTH: Final = 254


class MemberNotFound(LookupError):
    """The shop has no member with this address."""

    def __init__(self, shop_id: str, email: str) -> None:
        super().__init__(f"the shop {shop_id!r} has no member {email!r}")


class AlreadyMember(ValueError):
    """The shop has an enabled member with this address."""

    def __init__(self, email: str) -> None:
        super().__init__(
            f"{email!r} is already a member of the shop; `members set-permissions` changes "
            "their permissions"
        )


class MemberDisabled(ValueError):
    """The member cannot enter the shop."""

    def __init__(self, email: str) -> None:
        super().__init__(f"{email!r} is disabled in the shop; `members add` enables them again")


@dataclass(frozen=True)
class Member:
    """A person's membership of one shop. Instants in microseconds; `disabled_at` is None while the
    membership is enabled."""

    member_key: int
    shop_key: int
    shop_id: str
    email: str
    permissions: tuple[str, ...]
    adds_shops: bool
    has_password: bool
    created_at: int
    disabled_at: int | None

    @property
    def state(self) -> str:
        """`disabled`, `invited` (no password yet) or `active`."""
        if self.disabled_at is not None:
            return "disabled"
        return "active" if self.has_password else "invited"


def normalize_email(text: str) -> str:
    """An e-mail address as it is stored and compared: trimmed, in lower case. Raises ValueError."""
    email = text.strip().lower()
    if len(email) > _MAX_EMAIL_LENGTH or not _EMAIL.fullmatch(email):
        raise ValueError(f"{text!r} is not an e-mail address")
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
    """Make a person a member of a shop, or enable a disabled member again.

    Returns the token of a link to set a password, or None where the person has one. Raises
    AlreadyMember.
    """
    person = find_or_add_person(connection, email, now)
    member_key = person.member_key
    same = _is_membership(shop_key, member_key)
    disabled_at = connection.execute(
        select(tables.membership.c.disabled_at).where(same)
    ).scalar_one_or_none()
    if disabled_at == NEVER:
        raise AlreadyMember(email)
    values = {"permissions": " ".join(_sorted(permissions)), "disabled_at": NEVER}
    if disabled_at is None:
        key = {"shop_key": shop_key, "member_key": member_key, "created_at": now}
        connection.execute(insert(tables.membership), key | values)
    else:
        connection.execute(update(tables.membership).where(same).values(values))
    record(connection, shop_key, by, "member_added", f"{email}: {_describe(permissions)}", now)
    if person.password_hash:
        return None
    return password_links.create(connection, member_key, now)


def find_or_add_person(connection: Connection, email: str, now: int) -> Row[Any]:
    """The row of a person, who may be in no shop yet."""
    person = select(tables.member).where(tables.member.c.email == email)
    row = connection.execute(person).one_or_none()
    if row is None:
        connection.execute(insert(tables.member), {"email": email, "created_at": now})
        row = connection.execute(person).one()
    return row


def find(connection: Connection, shop_id: str, email: str) -> Member:
    """Raises MemberNotFound."""
    for member in list_members(connection, shop_id):
        if member.email == email:
            return member
    raise MemberNotFound(shop_id, email)


def list_members(connection: Connection, shop_id: str | None = None) -> list[Member]:
    """The members of a shop, or of all shops: by shop and address."""
    member, membership, shop = tables.member, tables.membership, tables.shop
    statement = (
        select(
            membership,
            member.c.email,
            member.c.adds_shops,
            member.c.password_hash,
            shop.c.shop_id,
        )
        .join_from(membership, member, member.c.member_key == membership.c.member_key)
        .join(shop, shop.c.shop_key == membership.c.shop_key)
        .order_by(shop.c.shop_id, member.c.email)
    )
    if shop_id is not None:
        statement = statement.where(shop.c.shop_id == shop_id)
    return [_from_row(row) for row in connection.execute(statement)]


def set_permissions(
    connection: Connection, member: Member, permissions: Collection[str], *, by: Actor, now: int
) -> None:
    """Replace a member's permissions, from their next request on."""
    _update_membership(connection, member, permissions=" ".join(_sorted(permissions)))
    before, after = _describe(member.permissions), _describe(permissions)
    detail = f"{member.email}: {after} (before: {before})"
    record(connection, member.shop_key, by, "permissions_set", detail, now)


def disable(connection: Connection, member: Member, *, by: Actor, now: int) -> None:
    """Keep a member out of the shop from their next request on. Their keys keep working."""
    _update_membership(connection, member, disabled_at=now)
    sessions.end_all(connection, member.member_key, member.shop_key)
    sign_in_links.end_all(connection, member.member_key, member.shop_key)
    record(connection, member.shop_key, by, "member_disabled", member.email, now)


def create_sign_in_link(connection: Connection, member: Member, *, by: Actor, now: int) -> str:
    """The token of a new one-time link that signs a member in to the shop. Raises MemberDisabled."""
    if member.disabled_at is not None:
        raise MemberDisabled(member.email)
    record(connection, member.shop_key, by, "sign_in_link_created", member.email, now)
    return sign_in_links.create(connection, member.member_key, member.shop_key, now)


def reset_password(connection: Connection, member: Member, *, by: Actor, now: int) -> str:
    """Remove a member's password and end all their sign-ins. Returns the token of a link to set a new
    password."""
    _store_password(connection, member.member_key, "")
    record_in_all_shops(connection, member.member_key, by, "password_reset", member.email, now)
    return password_links.create(connection, member.member_key, now)


def set_password(
    connection: Connection,
    member_key: int,
    password_hash: str,
    *,
    by: Actor,
    now: int,
    action: str = "password_set",
) -> None:
    """Store a person's password. Ends their sign-ins and links, and lifts their limits of attempts."""
    email = _store_password(connection, member_key, password_hash)
    password_links.end_all(connection, member_key)
    sign_in_limits.reset_account(connection, email)
    record_in_all_shops(connection, member_key, by, action, email, now)


def password_hash(connection: Connection, member_key: int) -> str:
    """The stored hash of a person's password, "" without one. It stays until the transaction ends."""
    stored = select(tables.member.c.password_hash).where(tables.member.c.member_key == member_key)
    return str(connection.execute(stored.with_for_update()).scalar_one())


def _store_password(connection: Connection, member_key: int, password_hash: str) -> str:
    """Returns the member's address."""
    email = connection.execute(
        update(tables.member)
        .where(tables.member.c.member_key == member_key)
        .values(password_hash=password_hash)
        .returning(tables.member.c.email)
    ).scalar_one()
    sessions.end_all(connection, member_key)
    sign_in_links.end_all(connection, member_key)
    return str(email)


def record_in_all_shops(
    connection: Connection, member_key: int, by: Actor, action: str, detail: str, now: int
) -> None:
    """A person has one password for all their shops, so each shop's trail records its change."""
    membership = tables.membership
    shops = select(membership.c.shop_key).where(membership.c.member_key == member_key)
    for shop_key in connection.execute(shops.order_by(membership.c.shop_key)).scalars().all():
        record(connection, shop_key, by, action, detail, now)


def _update_membership(connection: Connection, member: Member, **values: Any) -> None:
    same = _is_membership(member.shop_key, member.member_key)
    connection.execute(update(tables.membership).where(same).values(values))


def _is_membership(shop_key: int, member_key: int) -> Any:
    membership = tables.membership
    return (membership.c.shop_key == shop_key) & (membership.c.member_key == member_key)


def _sorted(permissions: Collection[str]) -> list[str]:
    """In the vocabulary's order."""
    return [permission for permission in PERMISSIONS if permission in permissions]


def _describe(permissions: Collection[str]) -> str:
    """Permissions in the audit trail."""
    return ", ".join(_sorted(permissions)) or "no permissions"


def _from_row(row: Row[Any]) -> Member:
    return Member(
        member_key=row.member_key,
        shop_key=row.shop_key,
        shop_id=row.shop_id,
        email=row.email,
        permissions=tuple(row.permissions.split()),
        adds_shops=bool(row.adds_shops),
        has_password=bool(row.password_hash),
        created_at=row.created_at,
        disabled_at=None if row.disabled_at == NEVER else row.disabled_at,
    )

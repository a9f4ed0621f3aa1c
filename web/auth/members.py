"""Members: add, list, set permissions, disable, delete, and change passwords.

A person has one e-mail address and one password; a membership gives them permissions in one shop. Every
change is written to the shop's audit trail and ends the sign-ins that it contradicts. Nothing here
commits.
"""

import re
from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import Connection, Row, case, insert, select, update
from sqlalchemy import delete as sql_delete

from warehouse import tables
from warehouse.domain.time import NEVER
from warehouse.domain.vocabulary import PERMISSIONS
from warehouse.tables.base import happened, words
from web.auth import audit, one_time_links, sign_in_limits
from web.auth.audit import Change, OperatorError

_EMAIL: Final = re.compile(r"[^@\s\x00-\x1f<>,;]+@[^@\s\x00-\x1f<>,;]+\.[^@\s\x00-\x1f<>,;]+")
_MAX_EMAIL_LENGTH: Final = 254


Member = Row
"""A person's membership of one shop: member_key, shop_key, shop_id, email, permissions (a tuple),
adds_shops, state, created_at, disabled_at (microseconds, None while enabled). The state is `disabled`,
`invited` (no password yet) or `active`."""


def normalize_email(text: str) -> str:
    """An e-mail address as it is stored and compared: trimmed, in lower case. Raises ValueError, which
    says what the text is not."""
    email = text.strip().lower()
    if len(email) > _MAX_EMAIL_LENGTH or not _EMAIL.fullmatch(email):
        raise ValueError("is not an e-mail address")
    return email


def add(change: Change, shop_key: int, email: str, permissions: Collection[str]) -> str | None:
    """Make a person a member of a shop, or enable a disabled member again.

    Returns the token of a link to set a password, or None where the person has one. Raises OperatorError
    where the shop has them as an enabled member.
    """
    connection, person = change.connection, find_or_add_person(change, email)
    member_key = person.member_key
    same = _is_membership(shop_key, member_key)
    disabled_at = connection.scalar(select(tables.membership.c.disabled_at).where(same))
    if disabled_at == NEVER:
        raise OperatorError(
            f"{email!r} is already a member of the shop; `members set-permissions` changes their permissions"
        )
    values = {"permissions": " ".join(in_order(permissions)), "disabled_at": NEVER}
    if disabled_at is None:
        key = {"shop_key": shop_key, "member_key": member_key, "created_at": change.now}
        connection.execute(insert(tables.membership), key | values)
    else:
        connection.execute(update(tables.membership).where(same).values(values))
    change.record(shop_key, "member_added", f"{email}: {described(permissions)}")
    if person.password_hash:
        return None
    return one_time_links.create(change, "password", member_key)


def find_or_add_person(change: Change, email: str) -> Row:
    """The row of a person, who may be in no shop yet."""
    person = select(tables.member).where(tables.member.c.email == email)
    row = change.connection.execute(person).one_or_none()
    if row is None:
        change.connection.execute(insert(tables.member), {"email": email, "created_at": change.now})
        row = change.connection.execute(person).one()
    return row


def find(connection: Connection, shop_id: str, email: str) -> Member:
    """Find a member of a shop. Raises OperatorError."""
    for member in list_members(connection, shop_id):
        if member.email == email:
            return member
    raise OperatorError(f"the shop {shop_id!r} has no member {email!r}")


def list_members(connection: Connection, shop_id: str | None = None) -> list[Member]:
    """The members of a shop, or of all shops: by shop and address."""
    member, membership, shop = tables.member, tables.membership, tables.shop
    state = case(
        (membership.c.disabled_at != NEVER, "disabled"),
        (member.c.password_hash == "", "invited"),
        else_="active",
    )
    statement = (
        select(
            member.c.member_key,
            membership.c.shop_key,
            shop.c.shop_id,
            member.c.email,
            words(membership.c.permissions),
            (member.c.adds_shops == 1).label("adds_shops"),
            state.label("state"),
            membership.c.created_at,
            happened(membership.c.disabled_at),
        )
        .join_from(membership, member, member.c.member_key == membership.c.member_key)
        .join(shop, shop.c.shop_key == membership.c.shop_key)
        .order_by(shop.c.shop_id, member.c.email)
    )
    if shop_id is not None:
        statement = statement.where(shop.c.shop_id == shop_id)
    return list(connection.execute(statement))


def set_permissions(change: Change, member: Member, permissions: Collection[str]) -> None:
    """Replace a member's permissions, from their next request on."""
    _update_membership(change, member, permissions=" ".join(in_order(permissions)))
    before, after = described(member.permissions), described(permissions)
    detail = f"{member.email}: {after} (before: {before})"
    change.record(member.shop_key, "permissions_set", detail)


def disable(change: Change, member: Member) -> None:
    """Keep a member out of the shop from their next request on. Their keys keep working."""
    _update_membership(change, member, disabled_at=change.now)
    _end_all(change.connection, member.member_key, member.shop_key)
    change.record(member.shop_key, "member_disabled", member.email)


def delete(change: Change, email: str) -> list[str]:
    """Delete a person with all memberships, sign-ins and links, at once. The trails of their shops, and the
    keys that they created, go on with a number in the place of their address.

    Returns the ids of the shops that they were a member of. Raises OperatorError.
    """
    connection = change.connection
    same = tables.member.c.email == email
    member_key = connection.scalar(select(tables.member.c.member_key).where(same))
    if member_key is None:
        raise OperatorError(f"there is no member {email!r}; `members list` shows all of them")
    shops = [row.shop_id for row in list_members(connection) if row.member_key == member_key]
    name = f"deleted member {member_key}"
    record_in_all_shops(change, member_key, "member_deleted", name)
    audit.rename_person(connection, email, name)
    for keys in (tables.api_key, tables.write_key):
        created = update(keys).where(keys.c.created_by == email)
        connection.execute(created.values(created_by=name))
    sign_in_limits.reset_account(connection, email)
    connection.execute(sql_delete(tables.invitation).where(tables.invitation.c.email == email))
    for table in (tables.sign_in, tables.one_time_link, tables.membership, tables.member):
        connection.execute(sql_delete(table).where(table.c.member_key == member_key))
    return shops


def create_sign_in_link(change: Change, member: Member) -> str:
    """The token of a new one-time link that signs a member in to the shop. Raises OperatorError."""
    if member.disabled_at is not None:
        raise OperatorError(
            f"{member.email!r} is disabled in the shop; `members add` enables them again"
        )
    change.record(member.shop_key, "sign_in_link_created", member.email)
    return one_time_links.create(change, "sign-in", member.member_key, member.shop_key)


def reset_password(change: Change, member: Member) -> str:
    """Remove a member's password and end all their sign-ins. Returns the token of a link to set a new
    password."""
    _store_password(change.connection, member.member_key, "")
    record_in_all_shops(change, member.member_key, "password_reset", member.email)
    return one_time_links.create(change, "password", member.member_key)


def set_password(
    change: Change, member_key: int, password_hash: str, action: str = "password_set"
) -> None:
    """Store a person's password. Ends their sign-ins and links, and lifts their limits of attempts."""
    email = _store_password(change.connection, member_key, password_hash)
    sign_in_limits.reset_account(change.connection, email)
    record_in_all_shops(change, member_key, action, email)


def password_hash(connection: Connection, member_key: int) -> str:
    """The stored hash of a person's password, "" without one. It stays until the transaction ends."""
    stored = select(tables.member.c.password_hash).where(tables.member.c.member_key == member_key)
    return str(connection.execute(stored.with_for_update()).scalar_one())


def _store_password(connection: Connection, member_key: int, password_hash: str) -> str:
    """Store a password, and end the member's sign-ins and links. Returns their address."""
    email = connection.execute(
        update(tables.member)
        .where(tables.member.c.member_key == member_key)
        .values(password_hash=password_hash)
        .returning(tables.member.c.email)
    ).scalar_one()
    _end_all(connection, member_key)
    return str(email)


def _end_all(connection: Connection, member_key: int, shop_key: int | None = None) -> None:
    """End a member's sign-ins and links in all shops, or in one."""
    for table in (tables.sign_in, tables.one_time_link):
        statement = sql_delete(table).where(table.c.member_key == member_key)
        if shop_key is not None:
            statement = statement.where(table.c.shop_key == shop_key)
        connection.execute(statement)


def record_in_all_shops(change: Change, member_key: int, action: str, detail: str) -> None:
    """Record a change in the trail of each shop of a person, whose password is one for all of them."""
    membership = tables.membership
    shops = select(membership.c.shop_key).where(membership.c.member_key == member_key)
    for shop_key in change.connection.scalars(shops.order_by(membership.c.shop_key)).all():
        change.record(shop_key, action, detail)


def _update_membership(change: Change, member: Member, **values: Any) -> None:
    same = _is_membership(member.shop_key, member.member_key)
    change.connection.execute(update(tables.membership).where(same).values(values))


def _is_membership(shop_key: int, member_key: int) -> Any:
    membership = tables.membership
    return (membership.c.shop_key == shop_key) & (membership.c.member_key == member_key)


def in_order(permissions: Collection[str]) -> list[str]:
    """Permissions in the order of the vocabulary."""
    return [permission for permission in PERMISSIONS if permission in permissions]


def described(permissions: Collection[str]) -> str:
    """Permissions in the audit trail."""
    return ", ".join(in_order(permissions)) or "no permissions"

"""Operators: people who may add shops on the pages, and are members of each shop that they add.

The right belongs to the person: a shop's permissions hold in that shop, and a new shop is in none. Only the
command line gives and takes it. An operator without a shop adds the first one with the link that sets their
password, since a sign-in is always to a shop. Nothing here commits.
"""

from sqlalchemy import Connection, select, update

from warehouse.domain.vocabulary import PERMISSIONS
from warehouse.operations import shop_registry
from warehouse.operations.shop_registry import ShopSettings
from warehouse.tables import member
from web.auth import members, one_time_links, sessions
from web.auth.api_keys import find_shop_key
from web.auth.audit import Actor, record
from web.auth.errors import OperatorError


class ShopTaken(ValueError):
    """The shop is there already, and may be somebody else's."""


def add(connection: Connection, email: str, *, by: Actor, now: int) -> str | None:
    """Let a person add shops. Returns the token of a link to set a password, or None for those who can sign
    in."""
    person = members.find_or_add_person(connection, email, now)
    _set(connection, email, adds_shops=True)
    members.record_in_all_shops(connection, person.member_key, by, "operator_added", email, now)
    if person.password_hash and sessions.list_shops(connection, person.member_key):
        return None
    return one_time_links.create(connection, "password", person.member_key, now)


def remove(connection: Connection, email: str, *, by: Actor, now: int) -> None:
    """Let a person add no more shops. They stay a member of theirs. Raises OperatorError."""
    statement = select(member.c.member_key).where(member.c.email == email, member.c.adds_shops == 1)
    member_key = connection.scalar(statement)
    if member_key is None:
        raise OperatorError(f"{email!r} is no operator; `members add-operator` makes them one")
    _set(connection, email, adds_shops=False)
    members.record_in_all_shops(connection, member_key, by, "operator_removed", email, now)


def add_shop(
    connection: Connection, settings: ShopSettings, email: str, *, by: Actor, now: int
) -> int:
    """Add a shop with a person as its first member, who has all permissions; returns its key.

    A shop that is there is not entered, whatever its settings: raises ShopTaken.
    """
    shop_id, name = settings.shop_id, settings.name or None
    try:
        is_new = shop_registry.add_shop(
            connection, shop_id, settings.currency, settings.timezone, name, now
        )
    except shop_registry.ShopDiffers:
        is_new = False
    if not is_new:
        raise ShopTaken(shop_id)
    shop_key = find_shop_key(connection, shop_id)
    detail = f"{shop_id}: {settings.currency}, {settings.timezone}"
    record(connection, shop_key, by, "shop_added", detail, now)
    members.add(connection, shop_key, email, PERMISSIONS, by=by, now=now)
    return shop_key


def _set(connection: Connection, email: str, *, adds_shops: bool) -> None:
    changed = update(member).where(member.c.email == email).values(adds_shops=int(adds_shops))
    connection.execute(changed)

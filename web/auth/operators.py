"""Operators: people who may add shops on the pages, and are members of each shop that they add.

The right belongs to the person: a shop's permissions hold in that shop, and a new shop is in none. Only the
command line gives and takes it. An operator without a shop adds the first one with the link that sets their
password, since a sign-in is always to a shop. Nothing here commits.
"""

from sqlalchemy import select, update

from warehouse.domain.vocabulary import PERMISSIONS
from warehouse.shops import shop_registry
from warehouse.shops.shop_registry import ShopSettings
from warehouse.tables import member
from web.auth import members, one_time_links, sessions
from web.auth.api_keys import find_shop_key
from web.auth.audit import Change, OperatorError


class ShopTaken(ValueError):
    """The shop is there already, and may be somebody else's."""


def add(change: Change, email: str) -> str | None:
    """Let a person add shops. Returns the token of a link to set a password, or None for those who can sign
    in."""
    person = members.find_or_add_person(change, email)
    _set(change, person.member_key, email, "operator_added", adds_shops=1)
    if person.password_hash and sessions.list_shops(change.connection, person.member_key):
        return None
    return one_time_links.create(change, "password", person.member_key)


def remove(change: Change, email: str) -> None:
    """Let a person add no more shops. They stay a member of theirs. Raises OperatorError."""
    statement = select(member.c.member_key).where(member.c.email == email, member.c.adds_shops == 1)
    member_key = change.connection.scalar(statement)
    if member_key is None:
        raise OperatorError(f"{email!r} is no operator; `members add-operator` makes them one")
    _set(change, member_key, email, "operator_removed", adds_shops=0)


def add_shop(change: Change, settings: ShopSettings, email: str) -> int:
    """Add a shop with a person as its first member, who has all permissions; returns its key.

    A shop that is there is not entered, whatever its settings: raises ShopTaken.
    """
    connection, shop_id = change.connection, settings.shop_id
    try:
        is_new = shop_registry.add_shop(
            connection,
            shop_id,
            settings.currency,
            settings.timezone,
            settings.name or None,
            change.now,
        )
    except shop_registry.ShopDiffers:
        is_new = False
    if not is_new:
        raise ShopTaken(shop_id)
    shop_key = find_shop_key(connection, shop_id)
    change.record(shop_key, "shop_added", f"{shop_id}: {settings.currency}, {settings.timezone}")
    members.add(change, shop_key, email, PERMISSIONS)
    return shop_key


def _set(change: Change, member_key: int, email: str, action: str, *, adds_shops: int) -> None:
    person = update(member).where(member.c.member_key == member_key)
    change.connection.execute(person.values(adds_shops=adds_shops))
    members.record_in_all_shops(change, member_key, action, email)

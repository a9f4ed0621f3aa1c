"""The audit trail: who did what to a shop's keys and members, when and from where.

An entry is written in the transaction of what it tells about, so that neither exists without the
other. Entries are never changed.
"""

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Row, insert, select

from warehouse.schema import audit_event, shop

ACTIONS: Final = {
    "key_minted": "Minted a key",
    "key_rotated": "Rotated a key",
    "key_revoked": "Revoked a key",
    "signed_in": "Signed in",
    "signed_out": "Signed out",
    "password_set": "Set a password",
    "password_reset": "Reset a password",
    "member_added": "Added a member",
    "member_disabled": "Disabled a member",
    "permissions_set": "Set permissions",
}


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: a member by e-mail address, or the operator; and from which address."""

    name: str
    place: str


OPERATOR: Final = Actor("operator", "command line")


@dataclass(frozen=True)
class Entry:
    """One line of the trail; `at` in microseconds."""

    number: int
    shop_id: str
    at: int
    who: str
    place: str
    action: str
    what: str

    @property
    def title(self) -> str:
        return ACTIONS[self.action]


def record(
    connection: Connection, shop_key: int, by: Actor, action: str, what: str, now: int
) -> None:
    """Add an entry, in the caller's transaction. `action` is one of ACTIONS."""
    if action not in ACTIONS:
        raise ValueError(action)
    row = {"shop_key": shop_key, "at": now, "who": by.name, "place": by.place}
    connection.execute(insert(audit_event), {**row, "action": action, "what": what})


def entries(
    connection: Connection,
    shop_id: str | None = None,
    *,
    before: int | None = None,
    limit: int | None = None,
) -> list[Entry]:
    """Newest first: of one shop or of all; only those older than the entry numbered `before`."""
    statement = (
        select(audit_event, shop.c.shop_id)
        .join_from(audit_event, shop, shop.c.shop_key == audit_event.c.shop_key)
        .order_by(audit_event.c.audit_id.desc())
        .limit(limit)
    )
    if shop_id is not None:
        statement = statement.where(shop.c.shop_id == shop_id)
    if before is not None:
        statement = statement.where(audit_event.c.audit_id < before)
    return [_entry(row) for row in connection.execute(statement)]


def _entry(row: Row[Any]) -> Entry:
    return Entry(row.audit_id, row.shop_id, row.at, row.who, row.place, row.action, row.what)

"""The audit trail: every change to a shop's keys and members, with who made it, when and from where.

An event is written in the transaction of the change that it records, so neither exists without the
other. Events are never changed, with two exceptions: the number of times that something happened within an
hour, since nobody may fill the trail; and the address of a person who is deleted.
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import Connection, Row, func, insert, select, update

from warehouse.domain.time import MICROS_PER_SECOND
from warehouse.tables import audit_event, shop

# The stored action, and its title on pages and at the command line.
ACTIONS: Final = {
    "key_minted": "Created a key",
    "key_rotated": "Rotated a key",
    "key_revoked": "Revoked a key",
    "write_key_created": "Made a line for pages",
    "write_key_revoked": "Revoked a line for pages",
    "signed_in": "Signed in",
    "signed_out": "Signed out",
    "sign_in_link_created": "Created a link to sign in",
    "sign_in_refused": "Refused a sign-in",
    "sign_ins_ended": "Signed out elsewhere",
    "password_set": "Set a password",
    "password_changed": "Changed a password",
    "password_change_refused": "Refused to change a password",
    "password_reset": "Reset a password",
    "member_added": "Added a member",
    "member_disabled": "Disabled a member",
    "member_deleted": "Deleted a member",
    "permissions_set": "Set permissions",
    "member_invited": "Invited a member",
    "invitation_withdrawn": "Withdrew an invitation",
    "operator_added": "Let a member add shops",
    "operator_removed": "Let a member add no more shops",
    "shop_added": "Added the shop",
    "shop_changed": "Changed the shop",
    "form_renamed": "Renamed a form",
    "form_merged": "Merged a form into another one",
    "form_left_out": "Left a form out",
    "form_counted_again": "Had a form counted again",
    "forms_forgotten": "Forgot forms with few visitors",
    "form_split": "Split a form by a page",
    "form_split_undone": "Had a form counted as one again",
    "code_tied": "Said whose form's a code is",
    "code_untied": "Had a code be no form's any more",
    "note_written": "Wrote a note",
    "note_deleted": "Took a note away",
    "pull_set_up": "Set up a pull",
    "shop_deleted": "Deleted a shop",
    "rejects_retried": "Asked to import rejected rows again",
    "file_dropped": "Dropped a file",
    "file_imported": "Had a dropped file imported",
    "file_discarded": "Discarded a dropped file",
    "file_undone": "Had the import of a file undone",
    "person_forgotten": "Asked to forget a person",
}

# Their details name keys.
_ON_KEYS: Final = [action for action in ACTIONS if "key_" in action]


class OperatorError(Exception):
    """The thing asked for is not there, or cannot be changed. The message is a sentence without its full
    stop: what happened, and what to do next."""


@dataclass(frozen=True, slots=True)
class Actor:
    """The member (by e-mail address) or operator who makes a change, and the address they use."""

    name: str
    source_ip: str


OPERATOR: Final = Actor("operator", "command line")

UNKNOWN: Final = "unknown"
"""The name of an actor who has not signed in."""

MOST_AN_HOUR: Final = 100
"""The events of one action by one member in a shop's trail that are told apart."""

# The time that one event stands for, and how many networks have a separate event in it.
_AGAIN: Final = 3600 * MICROS_PER_SECOND
_MAX_NETWORKS: Final = 20
_OTHER_NETWORKS: Final = "other networks"


@dataclass(frozen=True, slots=True)
class Change:
    """A change in the making: the connection of its transaction, who makes it, the instant (microseconds)."""

    connection: Connection
    by: Actor
    now: int

    def record(self, shop_key: int, action: str, detail: str = "") -> None:
        """Add an event to a shop's trail. `action` is one of ACTIONS, else ValueError. After MOST_AN_HOUR
        events of one action by one member, the next ones of the hour share one event."""
        if action not in ACTIONS:
            raise ValueError(action)
        if self.by.name != OPERATOR.name:
            event = audit_event.c
            recent = select(event.audit_id).where(
                event.shop_key == shop_key,
                event.action == action,
                event.at > self.now - _AGAIN,
                event.actor == self.by.name,
            )
            counted = select(func.count()).select_from(recent.limit(MOST_AN_HOUR).subquery())
            if (self.connection.scalar(counted) or 0) >= MOST_AN_HOUR:
                self.record_repeated(shop_key, action, "and more")
                return
        self._add(shop_key, action, detail)

    def _add(self, shop_key: int, action: str, detail: str) -> None:
        row = {
            "shop_key": shop_key,
            "at": self.now,
            "actor": self.by.name,
            "source_ip": self.by.source_ip,
            "action": action,
            "detail": detail,
        }
        self.connection.execute(insert(audit_event), row)

    def record_repeated(self, shop_key: int, action: str, detail: str = "") -> None:
        """Record something that may happen often: the same from one network is one event an hour, with the
        number of times. From the 21st network within an hour, they share one event."""
        event = audit_event.c
        recent = select(event.source_ip, event.audit_id).where(
            event.shop_key == shop_key,
            event.action == action,
            event.at > self.now - _AGAIN,
            event.actor == self.by.name,
            event.detail == detail,
        )
        by_network = {row.source_ip: row.audit_id for row in self.connection.execute(recent)}
        source = self.by.source_ip
        if source not in by_network and len(by_network) >= _MAX_NETWORKS:
            source = _OTHER_NETWORKS
        if source in by_network:
            same = update(audit_event).where(event.audit_id == by_network[source])
            self.connection.execute(same.values(times=event.times + 1))
        else:
            replace(self, by=Actor(self.by.name, source))._add(shop_key, action, detail)


def rename_person(connection: Connection, email: str, name: str) -> None:
    """Put `name` in the place of a person's address, in all shops."""
    event = audit_event.c
    named = select(event.audit_id, event.actor, event.detail).where(
        (event.actor == email) | event.detail.contains(email, autoescape=True)
    )
    # The address may be a part of another person's.
    address = re.compile(rf"(?<![^\s]){re.escape(email)}(?![^\s:,])")
    for row in connection.execute(named).all():
        values = {
            "actor": name if row.actor == email else row.actor,
            "detail": address.sub(name, row.detail),
        }
        connection.execute(update(audit_event).where(event.audit_id == row.audit_id).values(values))


AuditEvent = Row
"""audit_id, shop_key, shop_id ("" where the shop is deleted, as that event itself says), at
(microseconds), actor, source_ip, action (one of ACTIONS), detail, times: how often it happened from
then on, within an hour."""


def title(event: AuditEvent) -> str:
    return ACTIONS[event.action] + (f", {event.times} times" if event.times > 1 else "")


def list_events(
    connection: Connection,
    shop_id: str | None = None,
    *,
    own_of: str = "",
    before: int | None = None,
    limit: int | None = None,
) -> list[AuditEvent]:
    """The events of one shop or of all, newest first; only those older than `before` (an audit_id). With
    `own_of`, a member's e-mail address: what that member did, but for keys."""
    statement = (
        select(audit_event, func.coalesce(shop.c.shop_id, "").label("shop_id"))
        .join_from(audit_event, shop, shop.c.shop_key == audit_event.c.shop_key, isouter=True)
        .order_by(audit_event.c.audit_id.desc())
        .limit(limit)
    )
    if shop_id is not None:
        statement = statement.where(shop.c.shop_id == shop_id)
    if own_of:
        statement = statement.where(
            audit_event.c.actor == own_of, audit_event.c.action.not_in(_ON_KEYS)
        )
    if before is not None:
        statement = statement.where(audit_event.c.audit_id < before)
    return list(connection.execute(statement))

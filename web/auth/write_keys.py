"""Write keys: create, list, revoke. With one, pages of a shop send events to the collector, and nothing else.

A write key is public: visitors can read it in the page. So it is stored as it is. It is a row: text,
shop_key, shop_id, name, origins (a tuple of those whose pages may use it, `*` for all; without one it
is for servers alone), created_by, created_at, revoked_at. Instants are in microseconds, None where it
has not happened.

Every change is written to the shop's audit trail. Nothing here commits.
"""

from collections.abc import Sequence
from secrets import token_hex
from typing import Final

from sqlalchemy import Connection, Row, insert, select, update

from warehouse import command
from warehouse.domain.time import NEVER
from warehouse.tables import collector, form_sighting, shop, uncollected, write_key
from warehouse.tables.base import happened, words
from web.auth.api_keys import find_shop_key, require_room
from web.auth.audit import Change, OperatorError

WriteKey = Row

PREFIX: Final = "fwk_"


def create(
    change: Change, shop_id: str, origins: Sequence[str], *, name: str, text: str = ""
) -> str:
    """Create a write key of a shop, and return its text.

    A caller that must not create two keys for one request passes its own `text`. Raises OperatorError without
    the shop or room for a key, and IntegrityError where that text is taken.
    """
    connection = change.connection
    shop_key = find_shop_key(connection, shop_id)
    require_room(connection, shop_key, "write keys", write_key, write_key.c.revoked_at > change.now)
    text = text or PREFIX + token_hex(16)
    row = {
        "write_key": text,
        "shop_key": shop_key,
        "name": name,
        "origins": " ".join(origins),
        "created_by": change.by.name,
        "created_at": change.now,
    }
    connection.execute(insert(write_key), row)
    change.record(shop_key, "write_key_created", _describe(find(connection, text)))
    return text


def list_write_keys(connection: Connection, shop_id: str | None = None) -> list[WriteKey]:
    """The write keys of a shop, or of all shops: by shop, the oldest first."""
    statement = _SELECT.order_by(shop.c.shop_id, write_key.c.created_at, write_key.c.write_key)
    if shop_id is not None:
        statement = statement.where(shop.c.shop_id == shop_id)
    return list(connection.execute(statement))


def list_working(connection: Connection) -> list[tuple[str, str, int, tuple[str, ...]]]:
    """The text, the shop's id and key, and the origins of each write key that is not revoked."""
    return [(*row,) for row in connection.execute(_SELECT_WORKING)]


def find(connection: Connection, text: str) -> WriteKey:
    """Find a write key. Raises OperatorError."""
    key = connection.execute(_SELECT.where(write_key.c.write_key == text)).one_or_none()
    if key is None:
        raise OperatorError(
            f"there is no write key {text!r}; `{command('web write-keys list')}` shows all of them"
        )
    return key


def revoke(change: Change, text: str) -> None:
    """Stop a write key. One that was revoked before keeps its instant. Raises
    OperatorError."""
    key = find(change.connection, text)
    revoked = change.connection.execute(
        update(write_key)
        .where(write_key.c.write_key == text, write_key.c.revoked_at > change.now)
        .values(revoked_at=change.now)
    )
    if revoked.rowcount == 1:
        change.record(key.shop_key, "write_key_revoked", _describe(key))


_SELECT: Final = select(
    write_key.c.write_key.label("text"),
    write_key.c.shop_key,
    shop.c.shop_id,
    write_key.c.name,
    words(write_key.c.origins),
    write_key.c.created_by,
    write_key.c.created_at,
    happened(write_key.c.revoked_at),
).join_from(write_key, shop, shop.c.shop_key == write_key.c.shop_key)

# The collector's statement.
_SELECT_WORKING: Final = (
    select(write_key.c.write_key, shop.c.shop_id, shop.c.shop_key, words(write_key.c.origins))
    .join_from(write_key, shop, shop.c.shop_key == write_key.c.shop_key)
    .where(write_key.c.revoked_at == NEVER)
)
# The columns that the collector's own role may read: those of its statement, and its counts, which it also
# writes. None of them holds the address of a member.
READ_BY_COLLECTOR: Final = {
    write_key: ("write_key", "shop_key", "origins", "revoked_at"),
    shop: ("shop_key", "shop_id"),
    uncollected: ("shop_key", "reason", "day", "calls"),
    collector: ("host", "seen_at"),
    form_sighting: ("shop_key", "form_id", "name", "path", "seen_at", "on_own_page"),
}
WRITTEN_BY_COLLECTOR: Final = (uncollected, collector, form_sighting)


def _describe(key: WriteKey) -> str:
    """A write key in the audit trail."""
    name = f"{key.name}, " if key.name else ""
    return f"{name}{key.text}: {', '.join(key.origins) or 'servers alone'}"

"""Write keys: create, list, revoke. With one, pages of a shop send events to the collector, and nothing else.

A write key is public: visitors can read it in the page. So it is stored as it is. Every change is written
to the shop's audit trail. Nothing here commits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, Final

from sqlalchemy import Connection, Row, insert, select, update

from warehouse.domain.landing_names import can_be_folder
from warehouse.domain.time import NEVER
from warehouse.tables import shop, write_key
from web.auth.api_keys import find_shop_key, require_room
from web.auth.audit import Actor, record

PREFIX: Final = "fwk_"


class WriteKeyNotFound(LookupError):
    """No write key has this text."""

    def __init__(self, text: str) -> None:
        super().__init__(
            f"there is no write key {text!r}; `python -m web write-keys list` shows all of them"
        )


class NoFolder(ValueError):
    """The shop's id cannot name the folder that its events pass."""

    def __init__(self, shop_id: str) -> None:
        super().__init__(
            f"the shop's id {shop_id!r} cannot be the name of a folder in the landing folder, which events "
            "pass; add the shop under an id such as its domain"
        )


@dataclass(frozen=True)
class WriteKey:
    """A write key. Its `origins` are those whose pages may use it (`*`: all); without one it is for
    servers alone. Instants in microseconds, None where it has not happened."""

    text: str
    shop_key: int
    shop_id: str
    name: str
    origins: tuple[str, ...]
    created_by: str
    created_at: int
    revoked_at: int | None


def create(
    connection: Connection,
    shop_id: str,
    origins: Sequence[str],
    *,
    name: str,
    by: Actor,
    now: int,
    text: str = "",
) -> str:
    """Create a write key of a shop, and return its text.

    A caller that must not create two keys for one request passes its own `text`. Raises ShopNotFound,
    NoFolder, TooManyKeys, and IntegrityError where that text is taken.
    """
    if not can_be_folder(shop_id):
        raise NoFolder(shop_id)
    shop_key = find_shop_key(connection, shop_id)
    require_room(connection, shop_key, "write keys", write_key, write_key.c.revoked_at > now)
    text = text or PREFIX + token_hex(16)
    row = {
        "write_key": text,
        "shop_key": shop_key,
        "name": name,
        "origins": " ".join(origins),
        "created_by": by.name,
        "created_at": now,
    }
    connection.execute(insert(write_key), row)
    key = find(connection, text)
    record(connection, shop_key, by, "write_key_created", _describe(key), now)
    return text


def list_write_keys(connection: Connection, shop_id: str | None = None) -> list[WriteKey]:
    """The write keys of a shop, or of all shops: by shop, the oldest first."""
    statement = _SELECT.order_by(shop.c.shop_id, write_key.c.created_at, write_key.c.write_key)
    if shop_id is not None:
        statement = statement.where(shop.c.shop_id == shop_id)
    return [_from_row(row) for row in connection.execute(statement)]


def list_working(connection: Connection) -> list[tuple[str, str, tuple[str, ...]]]:
    """The text, the shop's id and the origins of each write key that is not revoked."""
    rows = connection.execute(_SELECT_WORKING)
    return [(row.write_key, row.shop_id, tuple(row.origins.split())) for row in rows]


def find(connection: Connection, text: str) -> WriteKey:
    """Raises WriteKeyNotFound."""
    row = connection.execute(_SELECT.where(write_key.c.write_key == text)).one_or_none()
    if row is None:
        raise WriteKeyNotFound(text)
    return _from_row(row)


def revoke(connection: Connection, text: str, *, by: Actor, now: int) -> None:
    """Stop a write key. One that was revoked before keeps its instant. Raises WriteKeyNotFound."""
    key = find(connection, text)
    revoked = connection.execute(
        update(write_key)
        .where(write_key.c.write_key == text, write_key.c.revoked_at > now)
        .values(revoked_at=now)
    )
    if revoked.rowcount == 1:
        record(connection, key.shop_key, by, "write_key_revoked", _describe(key), now)


_SELECT: Final = select(write_key, shop.c.shop_id).join_from(
    write_key, shop, shop.c.shop_key == write_key.c.shop_key
)

# The collector's statement, and the columns in it: those are what its own role may read. None of them holds
# the address of a member.
_SELECT_WORKING: Final = (
    select(write_key.c.write_key, shop.c.shop_id, write_key.c.origins)
    .join_from(write_key, shop, shop.c.shop_key == write_key.c.shop_key)
    .where(write_key.c.revoked_at == NEVER)
)
READ_BY_COLLECTOR: Final = {
    write_key: ("write_key", "shop_key", "origins", "revoked_at"),
    shop: ("shop_key", "shop_id"),
}


def _describe(key: WriteKey) -> str:
    """A write key in the audit trail."""
    name = f"{key.name}, " if key.name else ""
    return f"{name}{key.text}: {', '.join(key.origins) or 'servers alone'}"


def _from_row(row: Row[Any]) -> WriteKey:
    return WriteKey(
        text=row.write_key,
        shop_key=row.shop_key,
        shop_id=row.shop_id,
        name=row.name,
        origins=tuple(row.origins.split()),
        created_by=row.created_by,
        created_at=row.created_at,
        revoked_at=None if row.revoked_at == NEVER else row.revoked_at,
    )

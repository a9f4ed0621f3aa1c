"""API keys: mint, list, revoke. The key itself is seen once, by whoever mints it."""

from collections.abc import Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from warehouse.days import NEVER
from warehouse.tables import api_key, shop
from warehouse.vocabulary import SCOPES
from web.key_text import hint, key_hash, new_key


class UnknownShop(LookupError):
    """No shop has this id."""


class UnknownKey(LookupError):
    """No key has this credential id."""


@dataclass(frozen=True)
class Key:
    """A key as its owner sees it. Instants in microseconds; None where it has not happened."""

    credential_id: str
    shop_id: str
    name: str
    hint: str
    scopes: tuple[str, ...]
    created_by: str
    created_at: int
    expires_at: int | None
    revoked_at: int | None
    last_used_at: int | None

    def state(self, now: int) -> str:
        """`active`, `expired` or `revoked`, at an instant."""
        if self.revoked_at is not None and self.revoked_at <= now:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "active"


def mint(
    connection: Connection,
    shop_id: str,
    scopes: Sequence[str],
    *,
    name: str,
    created_by: str,
    now: int,
    expires_at: int | None,
) -> str:
    """A new key of a shop, with some of SCOPES. Gives the key. Raises UnknownShop."""
    shop_key = connection.execute(
        select(shop.c.shop_key).where(shop.c.shop_id == shop_id)
    ).scalar_one_or_none()
    if shop_key is None:
        raise UnknownShop(shop_id)
    key = new_key()
    connection.execute(
        insert(api_key),
        {
            "credential_id": f"cred_{token_hex(12)}",
            "shop_key": shop_key,
            "key_hash": key_hash(key),
            "hint": hint(key),
            "name": name,
            "scopes": " ".join(scope for scope in SCOPES if scope in scopes),
            "created_by": created_by,
            "created_at": now,
            "expires_at": NEVER if expires_at is None else expires_at,
        },
    )
    return key


def list_keys(connection: Connection, shop_id: str | None = None) -> list[Key]:
    """The keys of a shop, or of all, in the order in which they were minted."""
    statement = (
        select(api_key, shop.c.shop_id)
        .join_from(api_key, shop, shop.c.shop_key == api_key.c.shop_key)
        .order_by(shop.c.shop_id, api_key.c.created_at, api_key.c.credential_id)
    )
    if shop_id is not None:
        statement = statement.where(shop.c.shop_id == shop_id)
    return [_key(row) for row in connection.execute(statement)]


def revoke(connection: Connection, credential_id: str, now: int) -> None:
    """Stop a key from the instant `now` on; one that is revoked already stays so. Raises
    UnknownKey."""
    known = select(api_key.c.credential_id).where(api_key.c.credential_id == credential_id)
    if connection.execute(known).first() is None:
        raise UnknownKey(credential_id)
    connection.execute(
        update(api_key)
        .where(api_key.c.credential_id == credential_id, api_key.c.revoked_at > now)
        .values(revoked_at=now)
    )


def _key(row: Row[Any]) -> Key:
    return Key(
        credential_id=row.credential_id,
        shop_id=row.shop_id,
        name=row.name,
        hint=row.hint,
        scopes=tuple(row.scopes.split()),
        created_by=row.created_by,
        created_at=row.created_at,
        expires_at=None if row.expires_at == NEVER else row.expires_at,
        revoked_at=None if row.revoked_at == NEVER else row.revoked_at,
        last_used_at=row.last_used_at or None,
    )

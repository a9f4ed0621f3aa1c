"""API keys: mint, list, rotate, revoke. The key itself is seen once, by whoever mints it.

Every change is in the audit trail of the shop.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from secrets import token_hex
from typing import Any, Final

from sqlalchemy import Connection, Row, insert, select, update

from warehouse.days import MICROS_PER_DAY, MICROS_PER_SECOND, NEVER
from warehouse.schema import api_key, shop
from warehouse.vocabulary import SCOPES
from web.audit import Actor, record
from web.expiry import shown_end
from web.key_text import hint, key_hash, new_key

# How long a key that is rotated goes on working beside the new one, in microseconds.
GRACES: Final = {
    "now": 0,
    "1h": 3_600 * MICROS_PER_SECOND,
    "24h": MICROS_PER_DAY,
    "7d": 7 * MICROS_PER_DAY,
}


class UnknownShop(LookupError):
    """No shop has this id."""


class UnknownKey(LookupError):
    """No key has this credential id."""


class NotActive(ValueError):
    """The key has expired, or was revoked or rotated already."""


class AlreadyMinted(ValueError):
    """There is a key with this credential id."""


@dataclass(frozen=True)
class Key:
    """A key as its owner sees it. Instants in microseconds; None where it has not happened.
    `replaced_by` is the credential that a rotation put in its place, or ""."""

    credential_id: str
    shop_key: int
    shop_id: str
    name: str
    hint: str
    scopes: tuple[str, ...]
    created_by: str
    created_at: int
    expires_at: int | None
    revoked_at: int | None
    last_used_at: int | None
    replaced_by: str

    def state(self, now: int) -> str:
        """`active`, `expired` or `revoked`, at an instant."""
        if self.revoked_at is not None and self.revoked_at <= now:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "active"

    def can_rotate(self, now: int) -> bool:
        return self.state(now) == "active" and not self.replaced_by


def mint(
    connection: Connection,
    shop_id: str,
    scopes: Sequence[str],
    *,
    name: str,
    by: Actor,
    now: int,
    expires_at: int | None,
    credential_id: str | None = None,
) -> str:
    """A new key of a shop, with some of SCOPES. Gives the key. Raises UnknownShop, and AlreadyMinted
    where the caller brought a credential id that is taken."""
    key = new_key()
    minted = Key(
        credential_id=credential_id or new_credential_id(),
        shop_key=find_shop(connection, shop_id),
        shop_id=shop_id,
        name=name,
        hint=hint(key),
        scopes=tuple(scope for scope in SCOPES if scope in scopes),
        created_by=by.name,
        created_at=now,
        expires_at=expires_at,
        revoked_at=None,
        last_used_at=None,
        replaced_by="",
    )
    _insert(connection, minted, key)
    record(connection, minted.shop_key, by, "key_minted", _described(minted), now)
    return key


def new_credential_id() -> str:
    return f"cred_{token_hex(12)}"


def find_shop(connection: Connection, shop_id: str) -> int:
    """The shop's key. Raises UnknownShop."""
    statement = select(shop.c.shop_key).where(shop.c.shop_id == shop_id)
    shop_key = connection.execute(statement).scalar_one_or_none()
    if shop_key is None:
        raise UnknownShop(shop_id)
    return int(shop_key)


def list_keys(connection: Connection, shop_id: str | None = None) -> list[Key]:
    """The keys of a shop, or of all, in the order in which they were minted."""
    statement = _KEYS.order_by(shop.c.shop_id, api_key.c.created_at, api_key.c.credential_id)
    if shop_id is not None:
        statement = statement.where(shop.c.shop_id == shop_id)
    return [_key(row) for row in connection.execute(statement)]


def find(connection: Connection, credential_id: str) -> Key:
    """Raises UnknownKey."""
    statement = _KEYS.where(api_key.c.credential_id == credential_id)
    row = connection.execute(statement).one_or_none()
    if row is None:
        raise UnknownKey(credential_id)
    return _key(row)


def rotate(
    connection: Connection,
    credential_id: str,
    *,
    by: Actor,
    now: int,
    grace: int,
    expires_at: int | None,
) -> str:
    """A new key with the name and scopes of an active one, which stops `grace` microseconds from
    now at the latest. Gives the new key. Raises UnknownKey, NotActive."""
    old = find(connection, credential_id)
    if not old.can_rotate(now):
        raise NotActive(credential_id)
    key = new_key()
    new = replace(
        old,
        credential_id=new_credential_id(),
        hint=hint(key),
        created_by=by.name,
        created_at=now,
        expires_at=expires_at,
        last_used_at=None,
    )
    stops = min(now + grace, NEVER if old.expires_at is None else old.expires_at)
    # Of two rotations at once, one.
    taken = connection.execute(
        update(api_key)
        .where(api_key.c.credential_id == credential_id, api_key.c.replaced_by == "")
        .values(replaced_by=new.credential_id, expires_at=stops)
    )
    if taken.rowcount != 1:
        raise NotActive(credential_id)
    _insert(connection, new, key)
    what = f"{_described(new)}; the old one {old.credential_id} works until {shown_end(stops)}"
    record(connection, old.shop_key, by, "key_rotated", what, now)
    return key


def revoke(connection: Connection, credential_id: str, *, by: Actor, now: int) -> None:
    """Stop a key from the instant `now` on; one that is revoked already stays so. Raises
    UnknownKey."""
    key = find(connection, credential_id)
    stopped = connection.execute(
        update(api_key)
        .where(api_key.c.credential_id == credential_id, api_key.c.revoked_at > now)
        .values(revoked_at=now)
    )
    if stopped.rowcount == 1:
        record(connection, key.shop_key, by, "key_revoked", _described(key), now)


_KEYS: Final = select(api_key, shop.c.shop_id).join_from(
    api_key, shop, shop.c.shop_key == api_key.c.shop_key
)


def _insert(connection: Connection, minted: Key, key: str) -> None:
    taken = select(api_key.c.credential_id).where(api_key.c.credential_id == minted.credential_id)
    if connection.execute(taken).first() is not None:
        raise AlreadyMinted(minted.credential_id)
    row = {
        "credential_id": minted.credential_id,
        "shop_key": minted.shop_key,
        "key_hash": key_hash(key),
        "hint": minted.hint,
        "name": minted.name,
        "scopes": " ".join(minted.scopes),
        "created_by": minted.created_by,
        "created_at": minted.created_at,
        "expires_at": NEVER if minted.expires_at is None else minted.expires_at,
    }
    connection.execute(insert(api_key), row)


def _described(key: Key) -> str:
    """A key in the audit trail."""
    until = "no expiry" if key.expires_at is None else f"until {shown_end(key.expires_at)}"
    name = f"{key.name}, " if key.name else ""
    return f"{name}{key.credential_id} ({key.hint}…): {', '.join(key.scopes)}; {until}"


def _key(row: Row[Any]) -> Key:
    return Key(
        credential_id=row.credential_id,
        shop_key=row.shop_key,
        shop_id=row.shop_id,
        name=row.name,
        hint=row.hint,
        scopes=tuple(row.scopes.split()),
        created_by=row.created_by,
        created_at=row.created_at,
        expires_at=None if row.expires_at == NEVER else row.expires_at,
        revoked_at=None if row.revoked_at == NEVER else row.revoked_at,
        last_used_at=row.last_used_at or None,
        replaced_by=row.replaced_by,
    )

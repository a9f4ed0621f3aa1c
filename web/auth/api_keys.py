"""API keys: mint, list, rotate, revoke. Only the caller that mints a key ever sees its text.

A key is a row: credential_id, shop_key, shop_id, name, hint, scopes (a tuple), created_by, created_at,
expires_at, revoked_at, last_used_at, replaced_by (the credential id that a rotation made, or "").
Instants are in microseconds, None where it has not happened.

Every change is written to the shop's audit trail. Nothing here commits.
"""

import re
from collections.abc import Collection
from datetime import UTC, date, datetime, timedelta
from secrets import token_hex
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, Table, func, insert, select, update

from warehouse import command
from warehouse.domain.time import MICROS_PER_DAY, MICROS_PER_SECOND, NEVER, from_micros, to_micros
from warehouse.domain.vocabulary import SCOPES
from warehouse.tables import api_key, shop
from warehouse.tables.base import happened, words
from web.auth.api_key_format import hint, key_hash, new_key
from web.auth.audit import Change, OperatorError

ApiKey = Row

# How long a rotated key keeps working after its replacement was made, in microseconds.
GRACE_PERIODS: Final = {
    "now": 0,
    "1h": 3_600 * MICROS_PER_SECOND,
    "24h": MICROS_PER_DAY,
    "7d": 7 * MICROS_PER_DAY,
}

MOST_KEYS: Final = 100
"""The most keys of each kind, API keys and write keys, that work for a shop at once."""

_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class KeyNotActive(OperatorError):
    """The key has expired, or was revoked or rotated before."""


def status(key: ApiKey, now: int) -> str:
    """`active`, `expired` or `revoked`, at an instant."""
    if key.revoked_at is not None and key.revoked_at <= now:
        return "revoked"
    return "expired" if key.expires_at is not None and key.expires_at <= now else "active"


def can_rotate(key: ApiKey, now: int) -> bool:
    return status(key, now) == "active" and not key.replaced_by


def mint(
    change: Change,
    shop_id: str,
    scopes: Collection[str],
    *,
    name: str,
    expires_at: int | None,
    credential_id: str | None = None,
) -> str:
    """Create a key of a shop with some of SCOPES, and return its text.

    A caller that must not create two keys for one request passes its own `credential_id`. Raises
    OperatorError without the shop or room for a key, and IntegrityError where that id is taken.
    """
    row = {
        "credential_id": credential_id or _new_credential_id(),
        "shop_key": find_shop_key(change.connection, shop_id),
        "name": name,
        "scopes": " ".join(scope for scope in SCOPES if scope in scopes),
        "expires_at": NEVER if expires_at is None else expires_at,
    }
    return _add(change, row, "key_minted")


def find_shop_key(connection: Connection, shop_id: str) -> int:
    """The primary key of a shop. Raises OperatorError."""
    shop_key = connection.scalar(select(shop.c.shop_key).where(shop.c.shop_id == shop_id))
    if shop_key is None:
        raise OperatorError(
            f"there is no shop {shop_id!r}; add it with `{command('web shops add')}`"
        )
    return int(shop_key)


def require_room(
    connection: Connection, shop_key: int, kind: str, keys: Table, *work: ColumnElement[bool]
) -> None:
    """Raise OperatorError where as many keys of a shop meet the conditions as may. Until the end of the
    transaction nobody else adds one: two at once would both find room for the last one."""
    lock = select(shop.c.shop_key).where(shop.c.shop_key == shop_key)
    connection.execute(lock.with_for_update(key_share=True))
    counted = select(func.count()).select_from(keys).where(keys.c.shop_key == shop_key, *work)
    if connection.execute(counted).scalar_one() >= MOST_KEYS:
        raise OperatorError(
            f"{MOST_KEYS} {kind} of the shop work, which is the most; revoke one that nobody needs any more"
        )


def opens(
    connection: Connection, text: str, shop_id: str, scopes: Collection[str], now: int
) -> bool:
    """Whether the text is an active key of the shop with these scopes, at least."""
    statement = _SELECT.where(api_key.c.key_hash == key_hash(text), shop.c.shop_id == shop_id)
    key = connection.execute(statement).one_or_none()
    return key is not None and status(key, now) == "active" and set(scopes) <= set(key.scopes)


def list_keys(connection: Connection, shop_id: str | None = None) -> list[ApiKey]:
    """The keys of a shop, or of all shops: by shop, the oldest first."""
    statement = _SELECT.order_by(shop.c.shop_id, api_key.c.created_at, api_key.c.credential_id)
    if shop_id is not None:
        statement = statement.where(shop.c.shop_id == shop_id)
    return list(connection.execute(statement))


def find(connection: Connection, credential_id: str) -> ApiKey:
    """Find a key. Raises OperatorError."""
    statement = _SELECT.where(api_key.c.credential_id == credential_id)
    key = connection.execute(statement).one_or_none()
    if key is None:
        raise OperatorError(f"there is no key {credential_id!r}; `keys list` shows all keys")
    return key


def rotate(change: Change, credential_id: str, *, grace: int, expires_at: int | None) -> str:
    """Replace an active key by a new one with its name and scopes, and return the new key's text.

    The old key stops `grace` microseconds from now, or when it expires if that is earlier. Raises
    OperatorError without the key or room for both, and KeyNotActive.
    """
    connection, now = change.connection, change.now
    old = find(connection, credential_id)
    old_stops_at = min(now + grace, NEVER if old.expires_at is None else old.expires_at)
    new = {
        "credential_id": _new_credential_id(),
        "shop_key": old.shop_key,
        "name": old.name,
        "scopes": " ".join(old.scopes),
        "expires_at": NEVER if expires_at is None else expires_at,
    }
    # When two rotations of one key run at once, the condition lets only one of them through.
    replaced = can_rotate(old, now) and connection.execute(
        update(api_key)
        .where(api_key.c.credential_id == credential_id, api_key.c.replaced_by == "")
        .values(replaced_by=new["credential_id"], expires_at=old_stops_at)
    )
    if not replaced or replaced.rowcount != 1:
        raise KeyNotActive(
            f"the key {credential_id!r} cannot be rotated: it has expired, or was revoked or rotated before; "
            "create a new one with `keys mint`"
        )
    old_stops = f"; the old one {credential_id} works until {format_end(old_stops_at)}"
    return _add(change, new, "key_rotated", old_stops)


def revoke(change: Change, credential_id: str) -> None:
    """Stop a key from now on. A key that was revoked before keeps its instant. Raises
    OperatorError."""
    key = find(change.connection, credential_id)
    revoked = change.connection.execute(
        update(api_key)
        .where(api_key.c.credential_id == credential_id, api_key.c.revoked_at > change.now)
        .values(revoked_at=change.now)
    )
    if revoked.rowcount == 1:
        change.record(key.shop_key, "key_revoked", _describe(key))


def end_of_day(text: str) -> int:
    """The instant at which a UTC day `YYYY-MM-DD` ends. Raises ValueError, which says what the text is
    not."""
    try:
        if not _DAY.fullmatch(text):
            raise ValueError
        start = datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC)
        return to_micros(start + timedelta(days=1))
    except (ValueError, OverflowError):
        raise ValueError("is not a day; write it as YYYY-MM-DD") from None


def last_day(expires_at: int) -> str:
    """The UTC day, as `YYYY-MM-DD`, at whose end a key expires; "" for any other instant."""
    if expires_at % MICROS_PER_DAY:
        return ""
    return from_micros(expires_at - 1).date().isoformat()


def format_end(expires_at: int) -> str:
    """`31 Mar 2026, end of the day UTC`, or `31 Mar 2026, 13:00 UTC` within a day."""
    if last_day(expires_at):
        return from_micros(expires_at - 1).strftime("%d %b %Y, end of the day UTC").lstrip("0")
    return from_micros(expires_at).strftime("%d %b %Y, %H:%M UTC").lstrip("0")


_SELECT: Final = select(
    api_key.c.credential_id,
    api_key.c.shop_key,
    shop.c.shop_id,
    api_key.c.name,
    api_key.c.hint,
    words(api_key.c.scopes),
    api_key.c.created_by,
    api_key.c.created_at,
    happened(api_key.c.expires_at),
    happened(api_key.c.revoked_at),
    happened(api_key.c.last_used_at, never=0),
    api_key.c.replaced_by,
).join_from(api_key, shop, shop.c.shop_key == api_key.c.shop_key)


def _new_credential_id() -> str:
    return f"cred_{token_hex(12)}"


def _add(change: Change, row: dict[str, Any], action: str, note: str = "") -> str:
    """Add a key, and the action to the trail; `note` ends its detail. Returns the key's text."""
    connection, now = change.connection, change.now
    works = api_key.c.revoked_at > now, api_key.c.expires_at > now
    require_room(connection, row["shop_key"], "API keys", api_key, *works)
    text = new_key()
    own = {"key_hash": key_hash(text), "hint": hint(text), "created_by": change.by.name}
    connection.execute(insert(api_key), {**row, **own, "created_at": now})
    detail = _describe(find(connection, row["credential_id"]))
    change.record(row["shop_key"], action, detail + note)
    return text


def _describe(key: ApiKey) -> str:
    """A key in the audit trail."""
    expiry = "no expiry" if key.expires_at is None else f"until {format_end(key.expires_at)}"
    name = f"{key.name}, " if key.name else ""
    return f"{name}{key.credential_id} ({key.hint}…): {', '.join(key.scopes)}; {expiry}"

"""The secret of the warehouse under which e-mail addresses are hashed: HASH_SECRET, or one made once.

All processes must have the same one: under two secrets one person would be two. The stored value tells them:
a secret that was made, or of HASH_SECRET a fingerprint alone, so that a copy of the warehouse does not
give it away.
"""

import hmac
from secrets import token_hex
from typing import Final

from sqlalchemy import Connection, Engine, text

from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.email_hash import EmailHasher
from warehouse.setting_values import SettingError
from warehouse.settings import HASH_SECRET

_NAME: Final = "e-mail hash"
_READ: Final = f"SELECT value FROM secret WHERE name = '{_NAME}'"
_ADD: Final = text("INSERT INTO secret (name, value) VALUES (:name, :value) ON CONFLICT DO NOTHING")
_REPLACE: Final = text("UPDATE secret SET value = :value WHERE name = :name")
_FINGERPRINT: Final = "fingerprint:"


def agree_on_hash_secret(engine: Engine) -> None:
    """Store the secret, or its fingerprint, where nothing is stored. The first of several processes that
    start at once decides. Raises SettingError if HASH_SECRET is not the secret in use. Commits."""
    stated: str = HASH_SECRET.get()
    with engine.connect() as connection:
        stored = connection.scalar(text(_READ))
    if stored is None:
        stored = _write(engine, _ADD, _fingerprint(stated) if stated else token_hex(32))
    if _in_use(stored, stated) == stored and stated:
        # The secret was made here once, and is the operator's to keep from now on.
        _write(engine, _REPLACE, _fingerprint(stated))


def email_hasher(connection: ArrowConnection) -> EmailHasher:
    """The hasher of a warehouse that `agree_on_hash_secret` has seen. Raises SettingError. Commits."""
    hasher = hasher_within(connection)
    connection.commit()
    return hasher


def hasher_within(connection: ArrowConnection) -> EmailHasher:
    """The hasher of a warehouse, as a part of the caller's transaction."""
    stored = connection.value(_READ)
    assert isinstance(stored, str)
    return EmailHasher(_in_use(stored, HASH_SECRET.get()))


def hasher_of_pages(connection: Connection) -> EmailHasher:
    """The hasher of a warehouse, for pages."""
    return EmailHasher(_in_use(str(connection.scalar(text(_READ))), HASH_SECRET.get()))


def _write(engine: Engine, statement: object, value: str) -> str:
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        connection.execute(statement, {"name": _NAME, "value": value})  # type: ignore[call-overload]
        return str(connection.scalar(text(_READ)))


def _in_use(stored: str, stated: str) -> str:
    """The secret. Raises SettingError if HASH_SECRET, as stated, is another one or is missing."""
    is_ours = not stored.startswith(_FINGERPRINT)
    if stated and stored != (stated if is_ours else _fingerprint(stated)):
        raise SettingError(
            "HASH_SECRET is not the secret with which this warehouse hashes e-mail addresses: "
            + ("unset it" if is_ours else "set the one with which it was first used")
            + ", or use another WAREHOUSE_URL"
        )
    if not stated and not is_ours:
        raise SettingError(
            "HASH_SECRET is not set, and this warehouse hashes e-mail addresses with it: set the one with "
            "which it was first used"
        )
    return stated or stored


def _fingerprint(secret: str) -> str:
    """A text that tells whether a secret is the same, and not which it is."""
    return _FINGERPRINT + hmac.digest(secret.encode(), b"formrevenue HASH_SECRET", "sha256").hex()

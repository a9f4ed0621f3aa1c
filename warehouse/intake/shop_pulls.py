"""The pulls that are set up: rows of the table `pull`, for the jobs that run them and the pages of a shop.

Commands set up all (`jobs/pulls/set_up.py`), a page one, Shopify's. Functions of jobs commit; those of pages
are part of the caller's transaction. Credentials of other systems are kept encrypted.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from cryptography.fernet import Fernet, InvalidToken
from sqlalchemy import Connection, text

from warehouse.connections.arrow import ArrowConnection
from warehouse.setting_values import SettingError
from warehouse.settings import CREDENTIALS_KEY

JOB: Final = "pull:"
"""The job of a pull is this and its name."""

# How the last run of a pull ended.
OK: Final = "ok"
ERROR: Final = "error"

SHOPIFY: Final = "shopify"
SHOPIFY_SCHEDULE: Final = "5 * * * *"
# Shopify finds a changed order some time after the change.
SHOPIFY_LOOKBACK_DAYS: Final = 1
SHOPIFY_CREDENTIALS: Final = ("client_id", "client_secret")

_MAX_MESSAGE: Final = 500
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SHOPIFY_DOMAIN: Final = re.compile(r"[a-z0-9][a-z0-9-]*\.myshopify\.com")

_PULLS: Final = (
    "SELECT p.*, COALESCE(s.shop_id, '') AS shop_id FROM pull p "
    "LEFT JOIN shop s ON s.shop_key = p.shop_key"
)
_OF_SHOP: Final = text(f"{_PULLS} WHERE p.shop_key IN (0, :shop_key) ORDER BY p.name")
_SET_UP: Final = (
    "name",
    "source",
    "shop_key",
    "config",
    "credentials",
    "schedule",
    "lookback_days",
)


class CannotSetUp(ValueError):
    """The pull cannot be set up; the message is a sentence."""


@dataclass
class Pull:
    """A pull: its row, with `config` and `state` as objects. `shop_id` is "" for what belongs to no shop."""

    name: str
    source: str
    shop_key: int
    shop_id: str
    config: dict[str, Any]
    credentials: str
    # A cron expression in UTC, "" by hand only.
    schedule: str
    lookback_days: int
    set_up_at: int = 0
    pull_id: int = 0
    state: Mapping[str, Any] = field(default_factory=dict)
    # When the last run ended that ended by itself, 0 before the first.
    ran_at: int = 0
    # OK, ERROR or "" before it.
    status: str = ""
    # Why it failed.
    message: str = ""
    rows: int = 0
    bytes: int = 0

    @property
    def job(self) -> str:
        return f"{JOB}{self.name}"

    @property
    def has_failed(self) -> bool:
        return self.status == ERROR


def _pull(row: Mapping[str, Any]) -> Pull:
    texts = {name: json.loads(row[name] or "{}") for name in ("config", "state")}
    return Pull(**{**row, **texts})


def list_pulls(connection: ArrowConnection) -> list[Pull]:
    """All pulls, by name. Commits."""
    rows = connection.table(f"{_PULLS} ORDER BY p.name").to_pylist()
    connection.commit()
    return [_pull(row) for row in rows]


def list_of_shop(connection: Connection, shop_key: int) -> list[Pull]:
    """The pulls of a shop and those of no shop, such as exchange rates, by name."""
    rows = connection.execute(_OF_SHOP, {"shop_key": shop_key}).mappings()
    return [_pull(dict(row)) for row in rows]


def find(connection: ArrowConnection, name: str) -> Pull | None:
    """The pull of a name. Commits."""
    rows = connection.table(f"{_PULLS} WHERE p.name = $1", name).to_pylist()
    connection.commit()
    return _pull(rows[0]) if rows else None


def save(connection: ArrowConnection, pull: Pull, now: int) -> None:
    """Set up a pull, or change how the one of its name is set up: how far it got stays. Commits."""
    values = [getattr(pull, name) for name in _SET_UP]
    values[_SET_UP.index("config")] = json.dumps(pull.config)
    places = (f"${number}" for number in range(1, len(_SET_UP) + 2))
    changing = ("config", "credentials", "schedule", "lookback_days")
    connection.execute(_upsert(places, changing), *values, now)
    connection.commit()


def _upsert(places: Iterable[str], changing: Iterable[str]) -> str:
    """The statement that sets up a pull, or changes these columns of the one of the same source and shop.
    `places`: those of the values of _SET_UP, and of the time."""
    changes = (f"{name} = excluded.{name}" for name in (*changing, "set_up_at"))
    return (
        f"INSERT INTO pull ({', '.join(_SET_UP)}, set_up_at) VALUES ({', '.join(places)}) "
        f"ON CONFLICT (name) DO UPDATE SET {', '.join(changes)} "
        "WHERE pull.source = excluded.source AND pull.shop_key = excluded.shop_key"
    )


_SET_UP_BY_PAGE: Final = text(
    _upsert((f":{name}" for name in (*_SET_UP, "set_up_at")), ("config", "credentials"))
)


def set_up_shopify(
    connection: Connection,
    shop_key: int,
    shop_id: str,
    domain: str,
    credentials: Mapping[str, str],
    now: int,
) -> str:
    """Set up the pull of a shop's orders, or replace the domain and the credentials of the one there is: how
    far it came stays. Returns its name. Raises CannotSetUp, and SettingError without CREDENTIALS_KEY."""
    name = default_name(SHOPIFY, shop_id)
    config = {} if domain == shop_id.lower() else {"domain": domain}
    row = {
        "name": name,
        "source": SHOPIFY,
        "shop_key": shop_key,
        "config": json.dumps(config),
        "credentials": encrypted(credentials),
        "schedule": SHOPIFY_SCHEDULE,
        "lookback_days": SHOPIFY_LOOKBACK_DAYS,
        "set_up_at": now,
    }
    if not is_name(name) or not connection.execute(_SET_UP_BY_PAGE, row).rowcount:
        raise CannotSetUp(
            f"The pull cannot be called {name}. Ask the person who runs this service to set it up under "
            "another name."
        )
    return name


def remove(connection: ArrowConnection, name: str) -> bool:
    """Delete a pull; returns whether there was one. Commits."""
    removed = connection.changed("DELETE FROM pull WHERE name = $1 RETURNING pull_id", name)
    connection.commit()
    return bool(removed)


def end_well(
    connection: ArrowConnection,
    pull: Pull,
    now: int,
    state: Mapping[str, Any],
    rows: int,
    size: int,
) -> None:
    """Record that a run has ended well, and the state that the next run goes on from. Commits."""
    connection.execute(
        "UPDATE pull SET ran_at = $1, status = $2, message = '', state = $3, rows = $4, bytes = $5 "
        "WHERE pull_id = $6",
        *(now, OK, json.dumps(state), rows, size, pull.pull_id),
    )
    connection.commit()


def keep_state(connection: ArrowConnection, pull: Pull, state: Mapping[str, Any]) -> None:
    """Save a state while a run goes on. Commits."""
    connection.execute(
        "UPDATE pull SET state = $1 WHERE pull_id = $2", json.dumps(state), pull.pull_id
    )
    connection.commit()


def fail(connection: ArrowConnection, pull: Pull, now: int, message: str) -> None:
    """Save why a run failed; the state stays. Commits."""
    connection.execute(
        "UPDATE pull SET ran_at = $1, status = $2, message = $3 WHERE pull_id = $4",
        *(now, ERROR, message[:_MAX_MESSAGE], pull.pull_id),
    )
    connection.commit()


def default_name(source: str, shop_id: str) -> str:
    """The name of a pull that is set up without one."""
    return f"{source}-{shop_id}" if shop_id else source


def is_name(name: str) -> bool:
    """Whether a pull can have this name, which is part of names of files."""
    return bool(_NAME.fullmatch(name))


def is_shopify_domain(domain: str) -> bool:
    return bool(_SHOPIFY_DOMAIN.fullmatch(domain))


def encrypted(credentials: Mapping[str, object]) -> str:
    """Credentials as a text that only CREDENTIALS_KEY reads. Raises SettingError without the key."""
    key = CREDENTIALS_KEY.get()
    if not key:
        raise SettingError(
            "CREDENTIALS_KEY is not set, so credentials cannot be kept: set it (`openssl rand -base64 32` "
            "makes one; so does `start`), or give the credentials in the environment"
        )
    return Fernet(key).encrypt(json.dumps(credentials).encode()).decode()


def decrypted(text: str) -> dict[str, object]:
    """Credentials that `encrypted` has returned. Raises SettingError without their key."""
    key = CREDENTIALS_KEY.get()
    if not key:
        raise SettingError("CREDENTIALS_KEY is not set, and the credentials are kept under it")
    try:
        credentials: dict[str, object] = json.loads(Fernet(key).decrypt(text))
    except InvalidToken:
        raise SettingError(
            "CREDENTIALS_KEY is not the key under which the credentials are kept: set that one, or enter "
            "the credentials again"
        ) from None
    return credentials

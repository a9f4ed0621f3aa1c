"""The pulls of a shop, as its pages show them, and the words that pages and jobs share about pulls.

A page can set up one pull, Shopify's; commands set up all (`jobs/pulls/set_up.py`). Nothing here commits.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, text

from warehouse.operations.credentials import encrypted

# How the last run of a pull ended.
OK: Final = "ok"
ERROR: Final = "error"

SHOPIFY: Final = "shopify"
SHOPIFY_SCHEDULE: Final = "5 * * * *"
# Shopify finds a changed order some time after the change.
SHOPIFY_LOOKBACK_DAYS: Final = 1
SHOPIFY_CREDENTIALS: Final = ("client_id", "client_secret")

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SHOPIFY_DOMAIN: Final = re.compile(r"[a-z0-9][a-z0-9-]*\.myshopify\.com")

_OF_SHOP: Final = text(
    "SELECT name, source, schedule, ran_at, status, message, rows FROM pull "
    "WHERE shop_key IN (0, :shop_key) ORDER BY name"
)
_SET_UP: Final = text(
    "INSERT INTO pull (name, source, shop_key, config, credentials, schedule, lookback_days, "
    "set_up_at) VALUES (:name, :source, :shop_key, :config, :credentials, :schedule, :lookback_days, "
    ":set_up_at) ON CONFLICT (name) DO UPDATE SET config = excluded.config, "
    "credentials = excluded.credentials, set_up_at = excluded.set_up_at "
    "WHERE pull.source = excluded.source AND pull.shop_key = excluded.shop_key"
)


class CannotSetUp(ValueError):
    """The pull cannot be set up; the message is a sentence."""


@dataclass(frozen=True)
class ShopPull:
    """A pull and its last run that ended by itself. `schedule`: a cron expression in UTC, "" by hand only.
    `ran_at`: 0 before the first run. `status`: OK, ERROR or "" before it; `message`: why it failed."""

    name: str
    source: str
    schedule: str
    ran_at: int
    status: str
    message: str
    rows: int

    @property
    def has_failed(self) -> bool:
        return self.status == ERROR


def list_of_shop(connection: Connection, shop_key: int) -> list[ShopPull]:
    """The pulls of a shop and those of no shop, such as exchange rates, by name."""
    return [ShopPull(*row) for row in connection.execute(_OF_SHOP, {"shop_key": shop_key})]


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
    if not is_name(name) or not connection.execute(_SET_UP, row).rowcount:
        raise CannotSetUp(
            f"The pull cannot be called {name}. Ask the person who runs this service to set it up under "
            "another name."
        )
    return name


def default_name(source: str, shop_id: str) -> str:
    """The name of a pull that is set up without one."""
    return f"{source}-{shop_id}" if shop_id else source


def is_name(name: str) -> bool:
    """Whether a pull can have this name, which is part of names of files."""
    return bool(_NAME.fullmatch(name))


def is_shopify_domain(domain: str) -> bool:
    return bool(_SHOPIFY_DOMAIN.fullmatch(domain))

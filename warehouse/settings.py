"""Settings: one declaration each, read from the environment when they are asked for."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any, Final


class SettingError(ValueError):
    """A setting has a value that cannot be used; the message names it."""


@dataclass(frozen=True)
class Setting:
    """One environment variable: name, default (as text), parser, and what it does."""

    name: str
    default: str
    parse: Callable[[str], Any]
    help: str

    def get(self) -> Any:
        text = os.environ.get(self.name, "").strip() or self.default
        try:
            return self.parse(text)
        except ValueError as error:
            raise SettingError(f"{self.name}={text!r}: {error}") from None


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError("must be a whole number from 1")
    return number


def _port(text: str) -> int:
    number = int(text)
    if not 0 < number < 65536:
        raise ValueError("must be a port from 1 to 65535")
    return number


def _optional_port(text: str) -> int | None:
    return _port(text) if text else None


def _networks(text: str) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(part.strip(), strict=False) for part in text.split(",") if part.strip())


def _rate(text: str) -> tuple[int, int] | None:
    if not text:
        return None
    parts = text.split("/")
    if len(parts) != 2 or not all(part.isascii() and part.isdigit() for part in parts):
        raise ValueError("must be requests/seconds, such as 600/60")
    times, seconds = map(int, parts)
    if not 0 < times <= 1_000_000 or not 0 < seconds <= 86_400:
        raise ValueError("must be 1 to 1000000 requests in 1 to 86400 seconds")
    return times, seconds


def _origins(text: str) -> tuple[str, ...]:
    origins = tuple(part.strip().lower() for part in text.split(",") if part.strip())
    for origin in origins:
        if not re.fullmatch(r"\*|[a-z][a-z0-9+.-]*://[^/?#\s]+", origin):
            raise ValueError("must be origins such as https://app.example.com, or *")
    return origins


def _base_address(text: str) -> str:
    if text and not text.startswith(("http://", "https://")):
        raise ValueError("must begin with http:// or https://")
    return text.rstrip("/")


WAREHOUSE_URL: Final = Setting(
    "WAREHOUSE_URL",
    f"sqlite:///{Path('var') / 'warehouse.db'}",
    str,
    "where everything is kept: an SQLAlchemy URL (SQLite file or `postgresql+psycopg://…`)",
)
ATTRIBUTION_WINDOW_DAYS: Final = Setting(
    "ATTRIBUTION_WINDOW_DAYS",
    "30",
    _positive,
    "days (of 24 h) between a submission and an order that it can be credited with; "
    "a change has everything rolled up anew at the next rollup",
)
REJECTS_DAYS: Final = Setting(
    "REJECTS_DAYS", "30", _positive, "days after which rejected rows are purged"
)
NIGHTLY: Final = Setting(
    "NIGHTLY", "15 2 * * *", str, "when the nightly rollup runs: a cron expression, in UTC"
)
VERIFY: Final = Setting(
    "VERIFY", "15 4 * * *", str, "when a sample of days is verified: a cron expression, in UTC"
)
PURGE: Final = Setting(
    "PURGE",
    "45 3 * * *",
    str,
    "when old rejects, records of runs and `Idempotency-Key`s are purged: a cron expression, in UTC",
)
REFRESH_MINUTES: Final = Setting(
    "REFRESH_MINUTES", "5", _positive, "minutes between two refreshes of what has changed"
)
IMPORT_DIR: Final = Setting(
    "IMPORT_DIR",
    f"{Path('var') / 'landing'}",
    Path,
    "the landing folder, with a folder for each kind",
)
IMPORT_SECONDS: Final = Setting(
    "IMPORT_SECONDS", "10", _positive, "seconds between two looks into the landing folder"
)
BATCH_TRIES: Final = Setting(
    "BATCH_TRIES",
    "5",
    _positive,
    "tries after which a batch that cannot be rolled up is set aside",
)
RUNS_DAYS: Final = Setting(
    "RUNS_DAYS", "90", _positive, "days after which the records of runs are purged"
)
HOST: Final = Setting("HOST", "127.0.0.1", str, "the address that the API listens on")
PORT: Final = Setting("PORT", "8000", _port, "the port that the API listens on")
WORKERS: Final = Setting("WORKERS", "2", _positive, "processes that serve the API")
METRICS_HOST: Final = Setting(
    "METRICS_HOST", "127.0.0.1", str, "the address that metrics are served on"
)
METRICS_PORT: Final = Setting(
    "METRICS_PORT",
    "",
    _optional_port,
    "the port that metrics for Prometheus are served on; without it, there are none",
)
PUBLIC_URL: Final = Setting(
    "PUBLIC_URL",
    "",
    _base_address,
    "the address at which people reach the service, for the links it gives out; "
    "without it `http://HOST:PORT`",
)
TRUSTED_PROXIES: Final = Setting(
    "TRUSTED_PROXIES",
    "",
    _networks,
    "addresses or networks, comma-separated, of the proxies whose `X-Forwarded-For` and "
    "`X-Forwarded-Proto` are believed",
)
CORS_ORIGINS: Final = Setting(
    "CORS_ORIGINS",
    "",
    _origins,
    "origins, comma-separated, whose pages may read the API from a browser (`*`: all)",
)
RATE_LIMIT: Final = Setting(
    "RATE_LIMIT",
    "",
    _rate,
    "requests/seconds (`600/60`) that each key may make, on each host; without it, any number",
)
SECRET_KEY: Final = Setting(
    "SECRET_KEY",
    "",
    str,
    "what signs the cookies of members; without it, one is made up once and kept in the warehouse",
)


def public_url() -> str:
    """The address at which people reach the service, without a slash at its end."""
    return str(PUBLIC_URL.get() or f"http://{HOST.get()}:{PORT.get()}")


SETTINGS: Final = (
    WAREHOUSE_URL,
    ATTRIBUTION_WINDOW_DAYS,
    REJECTS_DAYS,
    NIGHTLY,
    REFRESH_MINUTES,
    VERIFY,
    PURGE,
    RUNS_DAYS,
    BATCH_TRIES,
    IMPORT_DIR,
    IMPORT_SECONDS,
    HOST,
    PORT,
    WORKERS,
    METRICS_HOST,
    METRICS_PORT,
    PUBLIC_URL,
    TRUSTED_PROXIES,
    CORS_ORIGINS,
    RATE_LIMIT,
    SECRET_KEY,
)

"""A setting, and how its text is read: each function takes one kind of value, and says what it must be.

They raise ValueError with a sentence that begins with "must" or "has".
"""

import base64
import binascii
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any, Final, cast

# Kinds of processes: `serve`; `collect`; `scheduler`, `status` and `run`; the other commands of `jobs`; and
# those of `web` that manage shops, keys and members.
API: Final = "api"
COLLECTOR: Final = "collector"
SCHEDULER: Final = "scheduler"
JOBS: Final = "jobs"
ADMIN: Final = "admin"


class SettingError(ValueError):
    """A setting cannot be used. The message names it and says what it must be."""


@dataclass(frozen=True)
class Setting:
    """One environment variable: its name, its default as text, its parser, and what it does.

    The value may be in a file instead, which NAME_FILE names: a secret of a container or of systemd. DATA_DIR
    stands for the `var` of a default."""

    name: str
    default: str
    parse: Callable[[str], Any]
    help: str
    # The value may hold a password: messages do not show it.
    secret: bool = False
    # A value that works, where the default is none.
    example: str = ""
    # The processes that use it. A scheduler runs what JOBS are, and the API does what ADMIN does.
    used_by: tuple[str, ...] = (API, COLLECTOR, SCHEDULER, JOBS, ADMIN)

    def get(self) -> Any:
        """The value in the environment, in its file, or the default. Raises SettingError."""
        text = os.environ.get(self.name, "").strip()
        path = "" if text else os.environ.get(f"{self.name}_FILE", "").strip()
        if path:
            try:
                text = Path(path).read_text().strip()
            except (OSError, UnicodeDecodeError) as error:
                raise SettingError(
                    f"{self.name}_FILE={path!r} cannot be read: {getattr(error, 'strerror', error)}"
                ) from None
        data = os.environ.get("DATA_DIR", "").strip() or "var"
        text = text or re.sub(r"(?<![^/])var\b", lambda _: data, self.default, count=1)
        try:
            return self.parse(text)
        except ValueError as error:
            quoted = repr(text) if len(text) <= _QUOTED else f"{text[:_QUOTED]!r}..."
            shown = self.name if self.secret else f"{self.name}={quoted}"
            example = f"{self.name}={self.example or self.default}"
            raise SettingError(f"{shown}: {error}, as in {example}") from None


# Characters of a value that an error shows.
_QUOTED: Final = 100

_DRIVERS: Final = {
    "sqlite": "sqlite",
    "sqlite+pysqlite": "sqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}

# The two letters of base64 that differ where it is part of an address.
_URL_SAFE: Final = str.maketrans("+/", "-_")
_KEY_BYTES: Final = 32

# Even as hexadecimal digits, 32 characters hold 128 random bits.
_MIN_SECRET_LENGTH: Final = 32


def warehouse_url(text: str) -> str:
    """The URL, with the driver that this program uses."""
    # Imported here: help is printed without it.
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(text)
        driver = _DRIVERS[url.drivername]
    except (ArgumentError, KeyError, ValueError):
        raise ValueError(
            "must be sqlite:///FILE or postgresql://USER:PASSWORD@HOST:PORT/NAME"
        ) from None
    if "@" in (url.host or ""):
        raise ValueError("has more than one @: write one in the password as %40")
    threshold = url.query.get("prepare_threshold")
    if threshold not in (None, "None") or (threshold and driver == "sqlite"):
        raise ValueError(
            f"has prepare_threshold={threshold}: write prepare_threshold=None where the API reaches "
            "PostgreSQL through pgbouncer in transaction mode, or leave it out"
        )
    return url.set(drivername=driver).render_as_string(hide_password=False)


def replica_url(text: str) -> str:
    """The URL of a read replica, with the driver that this program uses; "" for none."""
    url = warehouse_url(text) if text else ""
    if url and not url.startswith("postgresql"):
        raise ValueError(
            "must be postgresql://USER:PASSWORD@HOST:PORT/NAME: SQLite has no replicas"
        )
    return url


@dataclass(frozen=True)
class Number:
    """A parser of a whole number from `least` to `most`. `without` is the text that stands for none."""

    least: int
    most: int
    unit: str = ""
    without: str | None = None

    def __call__(self, text: str) -> int | None:
        if text == self.without:
            return None
        # Python refuses to read thousands of digits, with a message of its own.
        if not re.fullmatch(r"[0-9]{1,20}", text) or not self.least <= int(text) <= self.most:
            raise ValueError(f"must be {self}")
        return int(text)

    def __str__(self) -> str:
        of = f" of {self.unit}" if self.unit else ""
        or_without = f", or {self.without}" if self.without else ""
        return f"a whole number{of} from {self.least} to {self.most}{or_without}"


# A century: more days than any shop has, and as microseconds far within 64 bits.
DAYS: Final = Number(1, 36_500, "days")
DAYS_OR_OFF: Final = Number(1, 36_500, "days", without="off")
PORT: Final = Number(1, 65_535)
# The collector's metrics have the next one.
METRICS_PORT: Final = Number(1, 65_534, without="")
_REQUESTS: Final = Number(1, 1_000_000)
_SECONDS: Final = Number(1, 86_400)


def host(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]+|\[?[0-9A-Fa-f:.]+(%[\w.-]+)?\]?", text):
        raise ValueError("must be an address or the name of a host, without scheme and port")
    return text


def folder(text: str) -> Path:
    path = Path(text)
    if path.exists() and not path.is_dir():
        raise ValueError("must be a folder")
    return path


def cron(text: str) -> str:
    # Imported here: few processes have a schedule.
    from warehouse.domain.time import cron as trigger

    trigger(text)
    return text


def cron_or_none(text: str) -> str:
    return cron(text) if text else ""


def networks(text: str) -> tuple[IPv4Network | IPv6Network, ...]:
    try:
        return tuple(ip_network(part, strict=False) for part in as_list(text))
    except ValueError:
        raise ValueError("must be addresses or networks, comma-separated") from None


def rate(text: str) -> tuple[int, int] | None:
    if text.lower() == "off":
        return None
    requests, _, seconds = text.partition("/")
    try:
        return cast(int, _REQUESTS(requests)), cast(int, _SECONDS(seconds))
    except ValueError:
        raise ValueError(
            f"must be requests/seconds, {_REQUESTS.least} to {_REQUESTS.most} requests in "
            f"{_SECONDS.least} to {_SECONDS.most} s, or off"
        ) from None


def origins(text: str) -> tuple[str, ...]:
    """Origins with commas between them, each without the slash that browsers show at its end."""
    parts = [part.lower() for part in as_list(text)]
    for part in parts:
        if not re.fullmatch(r"\*|[a-z][a-z0-9+.-]*://[^/?#\s]+/?", part):
            raise ValueError("must be origins (scheme and host), comma-separated, or *")
    return tuple(part.removesuffix("/") for part in parts)


def as_list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def base_address(text: str) -> str:
    if text and not re.fullmatch(r"https?://[^/?#\s]+(/[^?#\s]*)?", text):
        raise ValueError("must begin with http:// or https://, and name a host")
    return text.rstrip("/")


def address_without_path(text: str) -> str:
    """The address of a service that has a host for itself: its cookies would go to whatever else is on it."""
    address = base_address(text)
    if "/" in address.partition("://")[2]:
        raise ValueError(
            "must have no path: the pages and their cookies need a host (or a port) of their own, of which "
            "the proxy passes on every path"
        )
    return address


def secret_key(text: str) -> str:
    if text and len(text) < _MIN_SECRET_LENGTH:
        raise ValueError(f"must have at least {_MIN_SECRET_LENGTH} characters")
    return text


def credentials_key(text: str) -> str:
    """The key as Fernet takes it; "" for none."""
    key = text.translate(_URL_SAFE)
    try:
        is_key = len(base64.b64decode(key, altchars=b"-_", validate=True)) == _KEY_BYTES
    except (ValueError, binascii.Error):
        is_key = False
    if text and not is_key:
        raise ValueError("must be 32 random bytes in base64")
    return key


def executor(text: str) -> str:
    processes = re.fullmatch(r"processes:([1-9][0-9]?)", text)
    if text == "inline" or processes:
        return text
    address = re.fullmatch(r"dask\+(tls|tcp)://(\[[0-9a-fA-F:]+\]|[^:/?#@\s]+):([0-9]{1,5})", text)
    if not address or not 0 < int(address[3]) <= 65_535:
        raise ValueError(
            "must be inline, processes:N (N from 1 to 99) or dask+tls://HOST:PORT (PORT from 1 to 65535)"
        )
    if address[1] == "tcp" and address[2] not in ("127.0.0.1", "[::1]", "localhost"):
        raise ValueError(
            "must begin with dask+tls:// unless the host is 127.0.0.1: whoever reaches a scheduler "
            "without certificates can run programs on its workers"
        )
    return text

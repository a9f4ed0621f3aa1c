"""Where a warehouse is, and how its SQLite file is opened: for SQLAlchemy's engines and for ADBC alike.

The URL is taken apart as SQLAlchemy does it, but without it: importing it takes as long as a small
rollup, which needs nothing else of it.
"""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from warehouse.settings import WAREHOUSE_URL, SettingError

SQLITE_PRAGMAS: Final = (
    "PRAGMA busy_timeout = 60000",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA cache_size = -64000",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA mmap_size = 1073741824",
)

_SQLITE: Final = re.compile(r"sqlite(?:\+\w+)?://(?:/(?P<file>[^?]*))?(?:\?.*)?")
_POSTGRESQL: Final = re.compile(
    r"postgresql(?:\+\w+)?://(?:(?P<user>[^:/]*)(?::(?P<password>[^@]*))?@)?(?P<rest>.*)"
)


@dataclass(frozen=True)
class Address:
    """`uri` is what ADBC's driver takes: SQLite's file ("" for none), or a URI of libpq."""

    sqlite: bool
    uri: str


def address_of(url: str) -> Address:
    """The address that an SQLAlchemy URL names. Raises SettingError."""
    if file := _SQLITE.fullmatch(url):
        return Address(True, unquote(file["file"] or ""))
    if server := _POSTGRESQL.fullmatch(url):
        names = [name for name in (server["user"], server["password"]) if name is not None]
        who = ":".join(quote(unquote(name), safe="") for name in names)
        return Address(False, f"postgresql://{who}{'@' if names else ''}{server['rest']}")
    # The URL itself may hold a password.
    raise SettingError(
        f"{WAREHOUSE_URL.name}: must be sqlite:///FILE or postgresql+psycopg://USER:PASSWORD@HOST/NAME"
    )


_open: dict[str, int] = {}


def count_open(file: str, change: int) -> None:
    """Note that an engine of this process has opened or closed a connection to an SQLite file."""
    _open[file] = _open.get(file, 0) + change


def refuse_shared_locks(address: Address) -> None:
    """Raise where this process holds an SQLAlchemy connection to the same SQLite file."""
    if address.sqlite and _open.get(address.uri, 0) > 0:
        raise RuntimeError(f"this process has {address.uri} open already; see warehouse/bulk.py")

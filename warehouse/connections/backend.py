"""A database as a URL and an engine need it: the differences between SQLite and PostgreSQL.

The connections of jobs have theirs in `arrow.py`; everything else in the warehouse is written for both. The
methods do nothing where a database needs nothing.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine

# Connections that an engine of the API keeps open; it opens more where more are needed at once.
_KEPT_CONNECTIONS: Final = 8
# How long a request waits for one of an engine's connections.
_POOL_SECONDS: Final = 0.5


class Backend(ABC):
    """One of the two databases, at one URL."""

    name: str
    # SQLAlchemy's options for a connection whose transaction reads one snapshot.
    snapshot_options: Mapping[str, Any] = MappingProxyType({})
    # Whether nothing that its engines do depends on a session, only on a transaction.
    allows_shared_sessions: bool = False

    def __init__(self, url: URL) -> None:
        self.url = url

    @property
    def file(self) -> str:
        """The file of the warehouse, "" where it is on a server."""
        return ""

    @property
    def is_missing(self) -> bool:
        """Whether nothing is there that could be connected to; False where only connecting tells."""
        return False

    @abstractmethod
    def adbc_connect(self) -> Any:
        """A new ADBC connection. Raises OperationalError where the database does not answer."""

    def adbc_close(self, connection: Any) -> None:
        connection.close()

    def pool_options(self, most: int) -> dict[str, Any]:
        """SQLAlchemy's options for an engine of the API, which keeps connections open and has at most
        so many of them."""
        kept = min(most, _KEPT_CONNECTIONS)
        return {"pool_size": kept, "max_overflow": most - kept, "pool_timeout": _POOL_SECONDS}

    def prepare_engine(self, engine: Engine, *, pooled: bool) -> None:
        """Set up the connections that an engine will open."""

    def shares_sessions(self, _engine: Engine) -> bool:
        """Whether a pooler in transaction mode is between an engine and the database: what one client sets
        for its session, another may get. (One that is very busy may go unnoticed.)"""
        return False

    def lock_migrations(self, connection: Connection, lock_seconds: int) -> None:
        """Wait until no other process migrates, and from then on at most so long for a lock. (SQLite: the
        transaction is the lock.)"""

    def oldest_reader(self, _connection: Connection) -> str:
        """The process that has used the warehouse for longest ("host:pid, since ..."), "" if none."""
        return ""

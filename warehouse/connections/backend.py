"""A database as the warehouse needs it: the differences between SQLite and PostgreSQL.

Everything else in the warehouse is written for both. The methods do nothing where a database needs
nothing. Those that take an `ArrowConnection` are documented there, under the same names.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import URL, Connection, Engine

from warehouse.domain.time import MICROS_PER_SECOND

if TYPE_CHECKING:
    from warehouse.connections.arrow import ArrowConnection

# How long SQLite tries to get its only write lock before the wait is reported.
BUSY_SECONDS: Final = 2.0
# How long a connection that must not wait for locks does so.
NO_WAIT_MS: Final = 500
# Connections that an engine of the API keeps open; it opens more where more are needed at once.
_KEPT_CONNECTIONS: Final = 8
# How long a request waits for one of an engine's connections.
_POOL_SECONDS: Final = 0.5


class Backend(ABC):
    """One of the two databases, at one URL."""

    name: str
    # The end of `INSERT INTO ... SELECT ... FROM staged {}` that keeps the order of a column `place`.
    ordered_by_place: str
    # The end of a SELECT of rows to write to, which leaves out those that another transaction has locked.
    skip_locked: str = ""
    # SQLAlchemy's options for a connection whose transaction reads one snapshot.
    snapshot_options: Mapping[str, Any] = MappingProxyType({})
    # Whether several processes can write at once.
    has_many_writers: bool = True
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

    @abstractmethod
    def session_statements(self, *, wait_for_locks: bool) -> Sequence[str]:
        """Statements to execute first on a connection of a job."""

    def with_parameters(self, sql: str) -> str:
        """A statement with parameters `$1`, `$2`, ... in the database's own notation."""
        return sql

    def is_busy(self, _error: Exception) -> bool:
        """Whether a statement failed because of a lock that the database did not wait for."""
        return False

    def now_micros(self, _connection: "ArrowConnection") -> int:
        return int(time.time() * MICROS_PER_SECOND)

    def server_pid(self, _connection: "ArrowConnection") -> int | None:
        """The server's process that serves the connection."""
        return None

    def identity(self, _connection: "ArrowConnection") -> str:
        return ""

    def blocker(self, _connection: "ArrowConnection", _server_pid: int) -> str | None:
        return None

    def lock_rows(
        self,
        connection: "ArrowConnection",
        table: str,
        key: str,
        where: str,
        *values: int | str,
    ) -> None:
        pass

    def keep_shops(self, connection: "ArrowConnection", shops: str) -> None:
        pass

    @abstractmethod
    def lock_shops(self, connection: "ArrowConnection", shops: str) -> None:
        """Wait for the imports that write rows of these shops, and keep others from beginning."""

    def lock_quiet_shops(self, connection: "ArrowConnection", shops: str) -> str:
        return shops

    @abstractmethod
    def lock_table(self, connection: "ArrowConnection", table: str) -> None:
        """Lock a table against other writers until the transaction ends."""

    def prefer_index_lookups(self, connection: "ArrowConnection") -> None:
        pass

    def analyze(self, connection: "ArrowConnection", table: str) -> None:
        pass

    def analyze_new(self, connection: "ArrowConnection", tables: Sequence[str]) -> None:
        pass

    def tune_for_import(self, connection: "ArrowConnection") -> None:
        pass

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

"""The differences between SQLite and PostgreSQL. Everything else in the warehouse is written for both.

`backend_of` gives the `Backend` of a URL. Its methods do nothing where a database needs nothing. Those
that take an `ArrowConnection` are documented there, under the same names.
"""

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import adbc_driver_manager
import adbc_driver_postgresql.dbapi
import adbc_driver_sqlite.dbapi
from sqlalchemy import URL, Connection, Engine, event, make_url, text

from warehouse.domain.time import MICROS_PER_SECOND
from warehouse.operations.process_id import own_name

if TYPE_CHECKING:
    from warehouse.connections.arrow import ArrowConnection

# How long SQLite tries to get its only write lock before the wait is reported.
BUSY_SECONDS: Final = 2.0
# How long a connection that must not wait for locks does so.
_NO_WAIT_MS: Final = 500
# How long the API waits for SQLite's write lock: less than a client waits for an answer. Jobs wait for as
# long as it takes.
_API_BUSY_SECONDS: Final = 5
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
    # Whether several processes can write at once.
    has_many_writers: bool = True

    def __init__(self, url: URL) -> None:
        self.url = url

    @abstractmethod
    def adbc_connect(self) -> Any:
        """A new ADBC connection. Raises OperationalError where the database does not answer."""

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

    def blocker(self, _connection: "ArrowConnection", _server_pid: int) -> str | None:
        return None

    def lock_rows(
        self, connection: "ArrowConnection", table: str, key: str, where: str, *values: int | str
    ) -> None:
        pass

    @abstractmethod
    def lock_table(self, connection: "ArrowConnection", table: str) -> None:
        """Lock a table against other writers until the transaction ends."""

    def lock_against_inserts(self, connection: "ArrowConnection", table: str) -> bool:
        return True

    def prefer_index_lookups(self, connection: "ArrowConnection") -> None:
        pass

    def analyze(self, connection: "ArrowConnection", table: str) -> None:
        pass

    def analyze_new(self, connection: "ArrowConnection", tables: Sequence[str]) -> None:
        pass

    def tune_for_import(self, connection: "ArrowConnection") -> None:
        pass

    @contextmanager
    def without_indexes(self, connection: "ArrowConnection", table: str) -> Iterator[None]:
        yield

    def pool_options(self, most: int) -> dict[str, Any]:
        """SQLAlchemy's options for an engine of the API, which keeps connections open and has at most
        so many of them."""
        kept = min(most, _KEPT_CONNECTIONS)
        return {"pool_size": kept, "max_overflow": most - kept, "pool_timeout": _POOL_SECONDS}

    def prepare_engine(self, engine: Engine, *, pooled: bool) -> None:
        """Set up the connections that an engine will open."""

    def lock_migrations(self, connection: Connection) -> None:
        """Wait until no other process migrates. (SQLite: the transaction is the lock.)"""


class SqliteBackend(Backend):
    """A file. The ADBC driver brings its own copy of SQLite, and POSIX file locks belong to a
    process: if Python's `sqlite3` closes a file that the other copy has open, the other's locks are
    lost. So within a process the two take turns, which `adbc_connect` enforces."""

    name = "sqlite"
    has_many_writers = False
    # Rows are read in the order in which they were staged; an ORDER BY would sort them again.
    ordered_by_place = "WHERE true"

    PRAGMAS: Final = (
        "PRAGMA busy_timeout = 60000",
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = NORMAL",
        "PRAGMA cache_size = -64000",
        "PRAGMA temp_store = MEMORY",
        "PRAGMA mmap_size = 1073741824",
    )
    # Less than the API maps: a job reads all of it once, and mapped pages count as its memory.
    _JOB_MMAP_BYTES: Final = 256 * 1024 * 1024
    # A checkpoint per 80 MB (4 KiB a page) instead of per commit: commits take half the time.
    _IMPORT_CHECKPOINT_PAGES: Final = 20_000
    # By file: the connections that engines of this process have open.
    _engine_connections: Final[dict[str, int]] = {}

    @property
    def file(self) -> str:
        return self.url.database or ""

    def adbc_connect(self) -> Any:
        if self._engine_connections.get(self.file, 0) > 0:
            raise RuntimeError(
                f"an engine of this process has {self.file} open (see SqliteBackend)"
            )
        return adbc_driver_sqlite.dbapi.connect(self.file)

    def session_statements(self, *, wait_for_locks: bool) -> Sequence[str]:
        timeout = int(BUSY_SECONDS * 1_000) if wait_for_locks else _NO_WAIT_MS
        return (
            *self.PRAGMAS,
            f"PRAGMA mmap_size = {self._JOB_MMAP_BYTES}",
            f"PRAGMA busy_timeout = {timeout}",
        )

    def with_parameters(self, sql: str) -> str:
        # SQLite takes `$1` for a name, numbered by its first appearance; its own form is `?1`.
        return re.sub(r"\$(\d+)", r"?\1", sql)

    def is_busy(self, error: Exception) -> bool:
        return "is locked" in str(error)

    def lock_table(self, connection: "ArrowConnection", table: str) -> None:
        # A transaction that has read can no longer become the writer once another has written.
        connection.execute("UPDATE shop SET edition = edition WHERE shop_key = 0")

    def tune_for_import(self, connection: "ArrowConnection") -> None:
        connection.execute(f"PRAGMA wal_autocheckpoint = {self._IMPORT_CHECKPOINT_PAGES}")
        # Pages that are read through the map stay in the process's memory.
        connection.execute("PRAGMA mmap_size = 0")

    @contextmanager
    def without_indexes(self, connection: "ArrowConnection", table: str) -> Iterator[None]:
        # Before it reads, since it writes afterwards.
        self.lock_table(connection, table)
        indexes = connection.table(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = $1 "
            "AND sql IS NOT NULL ORDER BY name",
            table,
        ).to_pylist()
        for index in indexes:
            connection.execute(f"DROP INDEX {index['name']}")
        yield
        for index in indexes:
            connection.execute(index["sql"])

    def pool_options(self, most: int) -> dict[str, Any]:
        # Without a file, in memory, each thread has a database of its own.
        return super().pool_options(most) if self.file else {}

    def prepare_engine(self, engine: Engine, *, pooled: bool) -> None:
        if self.file:
            Path(self.file).parent.mkdir(parents=True, exist_ok=True)
        event.listen(engine, "connect", self._set_pragmas)
        if pooled:
            event.listen(engine, "connect", _wait_as_the_api)
        event.listen(engine, "begin", _begin_sqlite)
        event.listen(engine, "connect", lambda *_: self._count_engine_connection(+1))
        event.listen(engine, "close", lambda *_: self._count_engine_connection(-1))

    def _set_pragmas(self, connection: Any, _record: Any) -> None:
        # SQLAlchemy emits BEGIN itself (below), so that a read and the write after it are one snapshot.
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in self.PRAGMAS:
            cursor.execute(pragma)
        cursor.close()

    def _count_engine_connection(self, change: int) -> None:
        self._engine_connections[self.file] = self._engine_connections.get(self.file, 0) + change


def _wait_as_the_api(connection: Any, _record: Any) -> None:
    connection.execute(f"PRAGMA busy_timeout = {_API_BUSY_SECONDS * 1_000}").close()


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that means to write takes the lock at once (execution option `writes`): SQLite
    # would refuse to promote a reader whose snapshot is no longer the newest, without waiting.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


class PostgresBackend(Backend):
    """A server."""

    name = "postgresql"
    ordered_by_place = "ORDER BY place"
    skip_locked = "FOR UPDATE SKIP LOCKED"

    # Any number, the same in every process.
    _MIGRATION_LOCK: Final = 7_305_811
    # How long the API waits for the server to accept a connection.
    _CONNECT_SECONDS: Final = 5
    # The server ends these in a session of the API: a statement, the wait for a lock, and a transaction in
    # which nothing happens. (While a body comes, nothing happens in its request's snapshot.)
    _API_TIMEOUTS: Final = (
        "-c statement_timeout=30s -c lock_timeout=3s -c idle_in_transaction_session_timeout=5min"
    )
    # Two hosts between which the link is cut notice it within so many milliseconds: the client by its own
    # parameters, the server by the settings of its session. Until then a job that has been cut off keeps
    # its transaction open, and so its locks.
    _CUT_OFF_MS: Final = 12_000
    _KEEPALIVES: Final = (
        ("keepalives_idle", 5),
        ("keepalives_interval", 2),
        ("keepalives_count", 3),
        ("tcp_user_timeout", _CUT_OFF_MS),
    )

    def adbc_connect(self) -> Any:
        return adbc_driver_postgresql.dbapi.connect(self.libpq_uri())

    def libpq_uri(self) -> str:
        # The operator's own parameters count.
        keepalives = {name: str(value) for name, value in self._KEEPALIVES}
        url = self.url.set(drivername="postgresql", query=keepalives | dict(self.url.query))
        return url.render_as_string(hide_password=False)

    def session_statements(self, *, wait_for_locks: bool) -> Sequence[str]:
        return (
            # By it, a process that waits for this one can name it (`blocker`).
            f"SET application_name = '{own_name()}'",
            # The server's names of the same, but for the last, begin with `tcp_`.
            *(f"SET tcp_{name.removeprefix('tcp_')} = {value}" for name, value in self._KEEPALIVES),
            # To compile a statement takes longer than any of these run.
            "SET jit = off",
            *([] if wait_for_locks else [f"SET lock_timeout = {_NO_WAIT_MS}"]),
        )

    def now_micros(self, connection: "ArrowConnection") -> int:
        return int(
            connection.value(
                "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"
            )
        )

    def server_pid(self, connection: "ArrowConnection") -> int | None:
        return int(connection.value("SELECT pg_backend_pid()"))

    def blocker(self, connection: "ArrowConnection", server_pid: int) -> str | None:
        name: str | None = connection.value(
            "SELECT application_name FROM pg_stat_activity "
            "WHERE pid = ANY(pg_blocking_pids(CAST($1 AS INTEGER))) LIMIT 1",
            server_pid,
        )
        connection.commit()
        return name

    def lock_rows(
        self, connection: "ArrowConnection", table: str, key: str, where: str, *values: int | str
    ) -> None:
        connection.table(
            f"SELECT {key} FROM {table} WHERE {where} ORDER BY {key} FOR UPDATE", *values
        )

    def lock_table(self, connection: "ArrowConnection", table: str) -> None:
        connection.execute(f"LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE")

    def lock_against_inserts(self, connection: "ArrowConnection", table: str) -> bool:
        try:
            connection.execute(f"LOCK TABLE {table} IN SHARE MODE NOWAIT")
        except adbc_driver_manager.ProgrammingError as error:
            connection.rollback()
            if error.sqlstate == "55P03":  # lock_not_available
                return False
            raise
        return True

    def prefer_index_lookups(self, connection: "ArrowConnection") -> None:
        # The planner knows nothing of the rows of a temporary table: it would read all facts for
        # every set of staged keys.
        for plan in ("hashjoin", "mergejoin"):
            connection.execute(f"SET enable_{plan} = off")
        connection.commit()

    def analyze(self, connection: "ArrowConnection", table: str) -> None:
        # The server does it some time after an import. Until then it takes a large table for small,
        # and may join it with itself row by row.
        connection.execute(f"ANALYZE {table}")

    def analyze_new(self, connection: "ArrowConnection", tables: Sequence[str]) -> None:
        listed = ", ".join(f"'{table}'" for table in tables)
        # A tenth of the usual sample is enough for keys, which are all different.
        connection.execute("SET LOCAL default_statistics_target = 10")
        never = f"SELECT relname FROM pg_class WHERE reltuples < 0 AND relname IN ({listed})"
        for table in connection.table(never).column(0).to_pylist():
            self.analyze(connection, table)
        connection.commit()

    def pool_options(self, most: int) -> dict[str, Any]:
        # The operator's own options come last, so that they count.
        options = f"{self._API_TIMEOUTS} {self.url.query.get('options', '')}".strip()
        connect_args: dict[str, Any] = {
            "connect_timeout": self._CONNECT_SECONDS,
            "options": options,
            **dict(self._KEEPALIVES),
        }
        return {
            **super().pool_options(most),
            "pool_pre_ping": True,
            "connect_args": connect_args,
        }

    def lock_migrations(self, connection: Connection) -> None:
        connection.execute(
            text("SELECT pg_advisory_xact_lock(:key)"), {"key": self._MIGRATION_LOCK}
        )


def backend_of(url: str | URL) -> Backend:
    """The backend of an SQLAlchemy URL that names SQLite or PostgreSQL."""
    parsed = make_url(url)
    kind = SqliteBackend if parsed.get_backend_name() == "sqlite" else PostgresBackend
    return kind(parsed)

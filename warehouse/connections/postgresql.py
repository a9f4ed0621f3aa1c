"""The backend of a server."""

import atexit
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, event, text

from warehouse.connections.backend import Backend

# In a URL, it says that a pooler hands each transaction to another session of the server.
_POOLED: Final = "prepare_threshold"
_PID: Final = text("SELECT pg_backend_pid()")
_OLDEST_READER: Final = text(
    "SELECT COALESCE(NULLIF(a.application_name, ''), 'process ' || a.pid || ' of the server, of role ' || "
    "a.usename) || ', since ' || to_char(a.xact_start AT TIME ZONE 'UTC', 'HH24:MI:SS') || ' UTC' "
    "FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid JOIN pg_class c ON c.oid = l.relation "
    "WHERE l.granted AND l.pid <> pg_backend_pid() AND c.relkind = 'r' AND a.datname = current_database() "
    "AND c.relnamespace = CAST(current_schema() AS regnamespace) ORDER BY a.xact_start LIMIT 1"
)


class PostgresBackend(Backend):
    """A server. With `?prepare_threshold=None` in its URL there is a pooler before it, such as pgbouncer in
    transaction mode: nothing outlives a transaction then, neither a setting nor a prepared statement."""

    name = "postgresql"
    snapshot_options = MappingProxyType({"isolation_level": "REPEATABLE READ"})

    # Any number, the same in every process.
    _MIGRATION_LOCK: Final = 7_305_811
    # How long the API waits for the server to accept a connection.
    _CONNECT_SECONDS: Final = 5
    # The server ends these in a session of the API: a statement, the wait for a lock, and a transaction in
    # which nothing happens. (While a body comes, nothing happens in its request's snapshot.)
    _API_TIMEOUTS: Final = (
        ("statement_timeout", "30s"),
        ("lock_timeout", "3s"),
        ("idle_in_transaction_session_timeout", "5min"),
    )
    # Two hosts between which the link is cut notice it within so many milliseconds: the client by its own
    # parameters, the server by the settings of its session. Until then a job that has been cut off keeps
    # its transaction open, and so its locks.
    _CUT_OFF_MS: Final = 12_000
    KEEPALIVES: Final = (
        ("keepalives_idle", 5),
        ("keepalives_interval", 2),
        ("keepalives_count", 3),
        ("tcp_user_timeout", _CUT_OFF_MS),
    )

    def __init__(self, url: URL) -> None:
        # The client library does not know this word.
        super().__init__(url.difference_update_query([_POOLED]))
        self.allows_shared_sessions = _POOLED in url.query

    def adbc_connect(self) -> Any:
        return _first_connection(self.libpq_uri()).adbc_clone()

    def libpq_uri(self) -> str:
        # The operator's own parameters count.
        keepalives = {name: str(value) for name, value in self.KEEPALIVES}
        url = self.url.set(drivername="postgresql", query=keepalives | dict(self.url.query))
        return url.render_as_string(hide_password=False)

    def pool_options(self, most: int) -> dict[str, Any]:
        connect_args: dict[str, Any] = {
            "connect_timeout": self._CONNECT_SECONDS,
            **dict(self.KEEPALIVES),
        }
        if not self.allows_shared_sessions:
            limits = " ".join(f"-c {name}={value}" for name, value in self._API_TIMEOUTS)
            # The operator's own options come last, so that they count.
            connect_args["options"] = f"{limits} {self.url.query.get('options', '')}".strip()
        return {
            **super().pool_options(most),
            "pool_pre_ping": True,
            "connect_args": connect_args,
        }

    def prepare_engine(self, engine: Engine, *, pooled: bool) -> None:
        if self.allows_shared_sessions:

            @event.listens_for(engine, "connect")
            def prepare_nothing(connection: Any, _record: Any) -> None:
                connection.prepare_threshold = None

        if self.allows_shared_sessions and pooled:
            limits = [
                f"set_config('{name}', '{value}', true)" for name, value in self._API_TIMEOUTS
            ]

            @event.listens_for(engine, "begin")
            def limit_transaction(connection: Connection) -> None:
                connection.exec_driver_sql(f"SELECT {', '.join(limits)}")

    def shares_sessions(self, engine: Engine) -> bool:
        if self.allows_shared_sessions:
            return True
        with engine.connect() as first:
            pid = first.scalar(_PID)
            first.commit()
            # A pooler tells its clients other numbers than those of the server's processes.
            if pid == first.connection.driver_connection.info.backend_pid:  # type: ignore[union-attr]
                return False
            # Its own session would be neither another's meanwhile nor another one later.
            with engine.connect() as second:
                return second.scalar(_PID) == pid or first.scalar(_PID) != pid

    def lock_migrations(self, connection: Connection, lock_seconds: int) -> None:
        connection.execute(
            text("SELECT pg_advisory_xact_lock(:key)"), {"key": self._MIGRATION_LOCK}
        )
        connection.execute(text(f"SET LOCAL lock_timeout = '{lock_seconds}s'"))

    def oldest_reader(self, connection: Connection) -> str:
        return str(connection.scalar(_OLDEST_READER) or "")


@cache
def _first_connection(uri: str) -> Any:
    """A connection to a server that is closed again, to be cloned. The driver asks for all types of a server
    before it connects to it for the first time; that takes ten times as long as a connection does."""
    # Imported here: it loads pandas, which the API and the command line do without.
    import adbc_driver_postgresql.dbapi

    connection = adbc_driver_postgresql.dbapi.connect(uri)
    atexit.register(connection.close)
    connection.adbc_connection.close()
    return connection

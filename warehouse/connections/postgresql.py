"""The backend of a server."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import URL, Connection, Engine, event, text

from warehouse.connections.backend import NO_WAIT_MS, Backend
from warehouse.operations.process_id import own_name

if TYPE_CHECKING:
    from warehouse.connections.arrow import ArrowConnection

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
# In the order in which all lock them, so that two never wait for each other in a circle.
_SHOPS: Final = "SELECT shop_key FROM shop WHERE shop_key IN ({}) ORDER BY shop_key"


class PostgresBackend(Backend):
    """A server. With `?prepare_threshold=None` in its URL there is a pooler before it, such as pgbouncer in
    transaction mode: nothing outlives a transaction then, neither a setting nor a prepared statement."""

    name = "postgresql"
    ordered_by_place = "ORDER BY place"
    skip_locked = "FOR UPDATE SKIP LOCKED"
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
    # The server ends the session of a job that does nothing in a transaction for so long: its process is
    # frozen, and others wait for its locks. No job computes for as long between two statements.
    _JOB_IDLE_TIMEOUT: Final = "15min"
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

    def __init__(self, url: URL) -> None:
        # The client library does not know this word.
        super().__init__(url.difference_update_query([_POOLED]))
        self.allows_shared_sessions = _POOLED in url.query

    def adbc_connect(self) -> Any:
        # Imported here: it loads pandas, which the API and the command line do without.
        import adbc_driver_postgresql.dbapi

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
            f"SET idle_in_transaction_session_timeout = '{self._JOB_IDLE_TIMEOUT}'",
            # To compile a statement takes longer than any of these run.
            "SET jit = off",
            *([] if wait_for_locks else [f"SET lock_timeout = {NO_WAIT_MS}"]),
        )

    def now_micros(self, connection: "ArrowConnection") -> int:
        return int(
            connection.value(
                "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"
            )
        )

    def server_pid(self, connection: "ArrowConnection") -> int | None:
        return int(connection.value("SELECT pg_backend_pid()"))

    def identity(self, connection: "ArrowConnection") -> str:
        # Any role may read both. Two servers do not start in the same microsecond, also where one is a
        # copy of the other's files.
        words = connection.value(
            "SELECT 'database ' || oid || ' of the server that started at ' || "
            "to_char(pg_postmaster_start_time() AT TIME ZONE 'UTC', "
            """'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') """
            "FROM pg_database WHERE datname = current_database()"
        )
        connection.commit()
        return str(words)

    def blocker(self, connection: "ArrowConnection", server_pid: int) -> str | None:
        name: str | None = connection.value(
            "SELECT application_name FROM pg_stat_activity "
            "WHERE pid = ANY(pg_blocking_pids(CAST($1 AS INTEGER))) LIMIT 1",
            server_pid,
        )
        connection.commit()
        return name

    def lock_rows(
        self,
        connection: "ArrowConnection",
        table: str,
        key: str,
        where: str,
        *values: int | str,
    ) -> None:
        # The rows are written later. Without its lock until then, a `lock_table` could come in between, and
        # both would wait for each other.
        connection.execute(f"LOCK TABLE {table} IN ROW EXCLUSIVE MODE")
        connection.table(
            f"SELECT {key} FROM {table} WHERE {where} ORDER BY {key} FOR NO KEY UPDATE", *values
        )

    def keep_shops(self, connection: "ArrowConnection", shops: str) -> None:
        connection.table(f"{_SHOPS.format(shops)} FOR KEY SHARE")

    def lock_shops(self, connection: "ArrowConnection", shops: str) -> None:
        connection.execute("LOCK TABLE shop IN ROW EXCLUSIVE MODE")
        connection.table(f"{_SHOPS.format(shops)} FOR UPDATE")

    def lock_quiet_shops(self, connection: "ArrowConnection", shops: str) -> str:
        quiet = connection.table(f"{_SHOPS.format(shops)} FOR UPDATE SKIP LOCKED")
        return ", ".join(map(str, quiet.column(0).to_pylist())) or "NULL"

    def lock_table(self, connection: "ArrowConnection", table: str) -> None:
        connection.execute(f"LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE")

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
        connect_args: dict[str, Any] = {
            "connect_timeout": self._CONNECT_SECONDS,
            **dict(self._KEEPALIVES),
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
            event.listen(engine, "connect", _prepare_nothing)
            if pooled:
                event.listen(engine, "begin", self._limit_transaction)

    def _limit_transaction(self, connection: Connection) -> None:
        limits = (f"set_config('{name}', '{value}', true)" for name, value in self._API_TIMEOUTS)
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


def _prepare_nothing(connection: Any, _record: Any) -> None:
    connection.prepare_threshold = None

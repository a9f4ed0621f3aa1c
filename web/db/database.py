"""The API's connections: one that reads a snapshot for each request, and others that write.

With a read replica, figures are read there, and nothing else: `read()` is always the primary, so that keys,
members, sign-ins and forms are as they are now, however far the replica lags. A request for figures first
asks the primary for its caller, and then opens a snapshot of the replica. All that its answer says comes
from that one snapshot: figures, `dataThrough`, the data version and so the ETag and the caches.

No request waits for long: neither for a connection, nor for a lock, nor for a statement
(`warehouse/connections/` has the times). Longer waits are an error that says so
(`is_unavailable` in web/http/errors.py).
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, Engine, Row, Select, event, text
from sqlalchemy.exc import DBAPIError

from warehouse.connections.engine import backend_of, open_engine
from warehouse.connections.errors import Unavailable
from warehouse.connections.look_ups import LookUps
from warehouse.migrations.migrate import is_current
from web.limits.slots import LOOK_UPS, READS, SIGN_INS, WRITES

Answer = TypeVar("Answer")


def query_of(connection: Connection) -> Callable[[str], list[dict[str, Any]]]:
    """A function that runs a statement without parameters, for code that jobs run, too."""
    return lambda sql: [dict(row) for row in connection.execute(text(sql)).mappings()]


# Each request at work reads on one connection, and so do the two probes of `/readyz`.
_READERS: Final = READS + WRITES + SIGN_INS + 3
# SQLite has one write lock. One request holds it and another waits for it: the others would wait in threads
# that can read meanwhile.
_SQLITE_WRITERS: Final = 2

# The note on a connection to the replica that was found to have this program's schema.
_IS_CURRENT: Final = "is_current"


class ReplicaBehind(Unavailable):
    """The read replica answers, and lacks something that the primary has; the message says what."""


class Database:
    """Connections to the warehouse at `url` and its read replica at `replica_url`, if it has one. A process
    has one object.

    A request reads several times (the caller, the edition, two summaries that must agree). One snapshot
    answers all of it, also while a rollup commits in between: SQLite's transactions are snapshots
    anyway, PostgreSQL's are with REPEATABLE READ.
    """

    def __init__(self, url: str, replica_url: str = "") -> None:
        self._replica: Engine | None = None
        self._look_ups: LookUps | None = None
        self._allows_shared_sessions = backend_of(url).allows_shared_sessions
        if backend_of(url).name == "sqlite":
            self._reader = open_engine(url, pooled=True, most=_READERS)
            self._writer = open_engine(url, pooled=True, most=_SQLITE_WRITERS)

            # A reader cannot write, as PostgreSQL's snapshots cannot: a page that forgot to ask for the
            # lock would not write beside it.
            @event.listens_for(self._reader, "connect")
            def refuse_writes(connection: Any, _record: Any) -> None:
                connection.execute("PRAGMA query_only = ON").close()
        else:
            # Imported here, with its driver, which a SQLite warehouse needs nothing of.
            from warehouse.connections.snapshots import open_snapshots

            self._reader = open_snapshots(url, _READERS)
            self._writer = open_engine(url, pooled=True, most=WRITES + SIGN_INS + 1)
            if replica_url:
                self._replica = open_snapshots(replica_url, READS + 2)

    @property
    def has_replica(self) -> bool:
        return self._replica is not None

    def read(self) -> Connection:
        """A connection on which a snapshot is open; close it with `release()`."""
        return _with_live_connection(partial(_open_snapshot, self._reader))

    def find(self, statement: Select[Any], values: Mapping[str, Any]) -> Row[Any] | None:
        """The row that one statement finds now, None without one. This takes one round trip, and a
        snapshot with one statement takes three. (PostgreSQL)"""

        def find() -> Row[Any] | None:
            connection = self._reader.connect().execution_options(one_statement=True)
            try:
                return connection.execute(statement, values).one_or_none()
            finally:
                self.release(connection)

        return _with_live_connection(find)

    def look_ups(self, statement: Select[Any]) -> LookUps | None:
        """The statement, to be asked by the driver alone. None with a read replica, of whose figures its row
        does not tell, and behind a pooler, where only a transaction limits how long it takes."""
        if not self.has_replica and not self._allows_shared_sessions:
            self._look_ups = LookUps(self._reader, statement, LOOK_UPS)
        return self._look_ups

    def read_figures(self) -> Connection:
        """A connection that reads figures: as `read` gives it, to the read replica where there is one. Raises
        ReplicaBehind where that does not have the schema of this program."""
        if self._replica is None:
            return self.read()
        connection = _with_live_connection(partial(_open_snapshot, self._replica))
        try:
            # Once for each connection: a server that was restored or replaced ends them all.
            if _IS_CURRENT not in connection.info and not is_current(connection):
                raise ReplicaBehind(
                    "The read replica does not have this program's schema. After an upgrade, try again in "
                    "a moment."
                )
            connection.info[_IS_CURRENT] = True
        except BaseException:
            connection.close()
            raise
        return connection

    def release(self, connection: Connection) -> None:
        """Close a connection that was read or written with; changes that were not committed are rolled back.

        A snapshot ends by a COMMIT: after a ROLLBACK, psycopg drops all statements that it has prepared,
        and the server would plan each of them again.
        """
        writes = connection.get_execution_options().get("writes", False)
        with connection, suppress(DBAPIError):
            if not writes and not connection.invalidated:
                connection.commit()

    def write(self) -> Connection:
        """A connection whose transaction can write; it must be committed."""
        return self._writer.connect().execution_options(writes=True)

    def close(self) -> None:
        """Close the connections that wait for their next use."""
        if self._look_ups:
            self._look_ups.close()
        for engine in filter(None, (self._reader, self._writer, self._replica)):
            engine.dispose()


def _with_live_connection(ask: Callable[[], Answer]) -> Answer:
    try:
        return ask()
    except DBAPIError as error:
        if not error.connection_invalidated:
            raise
        # The connection died in the pool, which has dropped all that are as old: the next one is new.
        return ask()


def _open_snapshot(engine: Engine) -> Connection:
    connection = engine.connect()
    try:
        connection.begin()
    except BaseException:
        connection.close()
        raise
    return connection

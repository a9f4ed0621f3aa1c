"""The API's connections: one that reads a snapshot for each request, and others that write.

No request waits for long: neither for a connection, nor for a lock, nor for a statement
(`warehouse/connections/` has the times). Longer waits are an error that says so
(`is_unavailable` in web/http/errors.py).
"""

from contextlib import suppress
from typing import Final

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from warehouse.connections.backends import backend_of
from warehouse.connections.engine import open_engine
from web.server.threads import THREADS

# Each request reads on one connection, and so does the probe.
_READERS: Final = THREADS + 1
# SQLite has one write lock. One request holds it and another waits for it: the others would wait in threads
# that can read meanwhile.
_SQLITE_WRITERS: Final = 2


class Database:
    """One per process, on the warehouse at `url`.

    A request reads several times (the caller, the edition, two summaries that must agree). One snapshot
    answers all of it, also while a rollup commits in between: SQLite's transactions are snapshots
    anyway, PostgreSQL's are with REPEATABLE READ.
    """

    def __init__(self, url: str) -> None:
        if backend_of(url).name == "sqlite":
            self._reader = open_engine(url, pooled=True, most=_READERS)
            self._writer = open_engine(url, pooled=True, most=_SQLITE_WRITERS)
        else:
            # Imported here, with its driver, which a SQLite warehouse needs nothing of.
            from warehouse.connections.snapshots import open_snapshots

            self._reader = open_snapshots(url, _READERS)
            self._writer = open_engine(url, pooled=True, most=THREADS)

    def read(self) -> Connection:
        """A connection on which a snapshot is open; close it with `release()`."""
        try:
            return self._open_snapshot()
        except DBAPIError as error:
            if not error.connection_invalidated:
                raise
            # It died in the pool, which has dropped all that are as old: the next one is new.
            return self._open_snapshot()

    def release(self, connection: Connection) -> None:
        """Close a connection of `read()` or `write()`; changes that were not committed are rolled back.

        A snapshot ends by a COMMIT: after a ROLLBACK, psycopg drops all statements that it has prepared,
        and the server would plan each of them again.
        """
        writes = connection.get_execution_options().get("writes", False)
        with connection, suppress(DBAPIError):
            if not writes and not connection.invalidated:
                connection.commit()

    def write(self) -> Connection:
        """A connection whose transaction means to write; it must be committed."""
        return self._writer.connect().execution_options(writes=True)

    def close(self) -> None:
        """Close the connections that wait for their next use."""
        self._reader.dispose()
        self._writer.dispose()

    def _open_snapshot(self) -> Connection:
        connection = self._reader.connect()
        try:
            connection.begin()
        except BaseException:
            connection.close()
            raise
        return connection

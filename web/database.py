"""The API's connections: one snapshot a request, and others that write."""

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from warehouse.engine import open_engine


class Database:
    """`read()` opens the snapshot that one request is answered from; `write()` is for changes.

    A request asks several questions (who calls, which edition is read, two summaries that must
    agree). One snapshot answers them all, also while a rollup commits in between: SQLite's
    transactions are snapshots anyway, PostgreSQL's are with REPEATABLE READ.
    """

    def __init__(self, url: str) -> None:
        self._writer = open_engine(url, pooled=True)
        self._reader = self._writer
        if self._writer.dialect.name == "postgresql":
            # Not before it is needed: it brings the driver with it.
            from warehouse.snapshots import open_snapshots

            self._reader = open_snapshots(url)

    def read(self) -> Connection:
        """A connection on which a snapshot is open; closing it ends that."""
        try:
            return self._snapshot()
        except DBAPIError as error:
            if not error.connection_invalidated:
                raise
            # It died in the pool, which has dropped all that are as old: the next one is new.
            return self._snapshot()

    def _snapshot(self) -> Connection:
        connection = self._reader.connect()
        try:
            connection.begin()
        except BaseException:
            connection.close()
            raise
        return connection

    def write(self) -> Connection:
        """A connection whose transaction means to write; it must be committed."""
        return self._writer.connect().execution_options(writes=True)

    def close(self) -> None:
        """Close the connections that wait for their next use."""
        self._reader.dispose()
        self._writer.dispose()

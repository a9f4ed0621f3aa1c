"""The API's connections: one snapshot a request, and others that write."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, PoolProxiedConnection, Select
from sqlalchemy.exc import DBAPIError

from warehouse.engine import open_engine

# A connection, and the cursor on it.
_Kept = tuple[PoolProxiedConnection, Any]


class Database:
    """`read()` opens the snapshot that one request is answered from; `write()` is for changes.

    A request asks several questions (who calls, which edition is read, two summaries that must
    agree). One snapshot answers them all, also while a rollup commits in between: SQLite's
    transactions are snapshots anyway, PostgreSQL's are with REPEATABLE READ.
    """

    def __init__(self, url: str) -> None:
        self._kept: list[KeptStatement] = []
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

    def keep(self, statement: Select[Any]) -> "KeptStatement":
        """A statement that is asked again and again."""
        kept = KeptStatement(self._reader, self.read, statement)
        self._kept.append(kept)
        return kept

    def write(self) -> Connection:
        """A connection whose transaction means to write; it must be committed."""
        return self._writer.connect().execution_options(writes=True)

    def close(self) -> None:
        """Close the connections that wait for their next use."""
        for kept in self._kept:
            kept.close()
        self._reader.dispose()
        self._writer.dispose()


class KeptStatement:
    """One statement that every request asks, as cheaply as the driver can.

    A pool, a transaction and SQLAlchemy's compiler cost several times what the database takes for a
    look-up. So the statement, whose parameters are texts, is compiled once, and asked on cursors that
    stay open between requests; each answer is a snapshot of its own, the newest.
    """

    def __init__(
        self, engine: Engine, read: Callable[[], Connection], statement: Select[Any]
    ) -> None:
        self._engine, self._read, self._statement = engine, read, statement
        compiled = statement.compile(dialect=engine.dialect)
        self._text, self._order = str(compiled), compiled.positiontup
        # As many as there ever were requests at once.
        self._free: deque[_Kept] = deque()

    def one(self, values: Mapping[str, str]) -> Sequence[Any] | None:
        """The one row that it gives, None where there is none."""
        given = [values[name] for name in self._order] if self._order else values
        kept = self._take()
        try:
            if kept is None:
                connection = self._engine.raw_connection()
                kept = connection, connection.cursor()
            # All of it, or SQLite would hold the snapshot open.
            rows: list[Sequence[Any]] = kept[1].execute(self._text, given).fetchall()
        except self._engine.dialect.loaded_dbapi.Error:
            # It died while it waited. Asked in the usual way, a new one answers, or says why not.
            if kept is not None:
                kept[0].invalidate()
            with self._read() as another:
                return another.execute(self._statement, values).one_or_none()
        self._free.append(kept)
        return rows[0] if rows else None

    def close(self) -> None:
        """Give the connections back; the next question takes others."""
        while (kept := self._take()) is not None:
            kept[0].close()

    def _take(self) -> _Kept | None:
        try:
            return self._free.pop()
        except IndexError:
            return None

"""The API's connections: one snapshot a request, and others that write."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, PoolProxiedConnection, Select
from sqlalchemy.exc import DBAPIError

from warehouse.engine import open_engine

# What a statement gives for its parameters, which are texts.
_Rows = Callable[[Sequence[str]], list[Sequence[Any]]]
# A connection, and a statement on it.
_Kept = tuple[PoolProxiedConnection, _Rows]


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
        # For statements that are kept: how they are written, and made ready on a connection.
        self.dialect, self._prepare, self.ask = self._reader.dialect, _prepare, _ask
        if self._writer.dialect.name == "postgresql":
            # Not before it is needed: it brings the driver with it.
            from warehouse import snapshots

            self._reader = snapshots.open_snapshots(url)
            self.dialect, self._prepare = snapshots.DOLLARS, snapshots.prepare
            self.ask = snapshots.ask

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
        kept = KeptStatement(self, statement)
        self._kept.append(kept)
        return kept

    def prepare(self, text: str) -> _Kept:
        """A connection of its own for a statement that is kept. Raises `failure`."""
        connection = self._reader.raw_connection()
        try:
            return connection, self._prepare(connection.driver_connection, text)
        except self.failure:
            connection.invalidate()
            raise

    @property
    def failure(self) -> type[Exception]:
        """What the driver raises."""
        return self._reader.dialect.loaded_dbapi.Error

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
    look-up. So the statement, whose parameters are texts, is compiled once, and asked on connections
    that stay open between requests; each answer is a snapshot of its own, the newest.
    """

    def __init__(self, database: Database, statement: Select[Any]) -> None:
        self._database, self._statement = database, statement
        compiled = statement.compile(dialect=database.dialect)
        self._text, self._order = str(compiled), compiled.positiontup or []
        # As many as there ever were requests at once.
        self._free: deque[_Kept] = deque()

    def one(self, values: Mapping[str, str]) -> Sequence[Any] | None:
        """The one row that it gives, None where there is none."""
        given = [values[name] for name in self._order]
        kept = self._take()
        try:
            kept = kept or self._database.prepare(self._text)
            rows = kept[1](given)
        except self._database.failure:
            # It died while it waited. Asked in the usual way, a new one answers, or says why not.
            if kept is not None:
                kept[0].invalidate()
            with self._database.read() as another:
                return another.execute(self._statement, values).one_or_none()
        self._free.append(kept)
        return rows[0] if rows else None

    def within(self, snapshot: Connection, values: Mapping[str, str]) -> Sequence[Any] | None:
        """The one row that it gives in a snapshot, None where there is none."""
        given = [values[name] for name in self._order]
        try:
            rows = self._database.ask(snapshot.connection.driver_connection, self._text, given)
        except self._database.failure:
            # Asked in the usual way, it says why not.
            return snapshot.execute(self._statement, values).one_or_none()
        return rows[0] if rows else None

    def close(self) -> None:
        """Close the connections; the next question takes others."""
        while (kept := self._take()) is not None:
            kept[0].invalidate()

    def _take(self) -> _Kept | None:
        try:
            return self._free.pop()
        except IndexError:
            return None


def _prepare(connection: Any, text: str) -> _Rows:
    """On SQLite, whose driver keeps the statements of a connection."""
    cursor = connection.cursor()
    # All of it, or SQLite would hold the snapshot open.
    return lambda values: cursor.execute(text, values).fetchall()


def _ask(connection: Any, text: str, values: Sequence[str]) -> list[Sequence[Any]]:
    rows: list[Sequence[Any]] = connection.execute(text, values).fetchall()
    return rows

"""Statements that are asked again and again, by the driver alone.

SQLAlchemy takes five times as long to carry out a small statement as SQLite takes to answer it, and longer to
make its rows than SQLite takes to find them. So the constants that requests read with are written by
SQLAlchemy once, and the driver carries them out. A request for which nothing else is read
(`web/http/known_answers.py`) does without SQLAlchemy's connection, too.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from functools import lru_cache
from queue import Empty, SimpleQueue
from typing import Any, Final

from sqlalchemy import Connection, Dialect, Engine, Select, TextClause
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

# How long a request waits for one of the connections. Where the database does not answer, all are in use.
_WAIT_SECONDS: Final = 0.02


class DriverStatement:
    """A statement as the driver takes it. None of its parameters expands, and SQLAlchemy would convert no
    value."""

    def __init__(self, statement: Select[Any] | TextClause, dialect: Dialect) -> None:
        self._compiled = statement.compile(dialect=dialect)
        self.text = str(self._compiled)

    def parameters(self, values: Mapping[str, Any]) -> Any:
        """Values as the driver takes them."""
        named = self._compiled.construct_params(values)
        order = self._compiled.positiontup
        return named if order is None else [named[name] for name in order]


_written: Final = lru_cache(maxsize=512)(DriverStatement)


def read_rows(
    connection: Connection, statement: Select[Any] | TextClause, values: Mapping[str, Any]
) -> Sequence[Any]:
    """The rows of a statement that is a constant. Raises the errors that SQLAlchemy would raise."""
    if not connection.in_transaction():
        connection.begin()
    dialect, pooled = connection.dialect, connection.connection
    written = _written(statement, dialect)
    with closing(pooled.cursor()) as cursor:
        try:
            cursor.execute(written.text, written.parameters(values))
            return cursor.fetchall()
        except dialect.loaded_dbapi.Error as error:
            is_lost = dialect.is_disconnect(error, pooled.dbapi_connection, cursor)
            if is_lost:
                connection.invalidate(error)
            raise DBAPIError.instance(
                *(written.text, None, error, dialect.loaded_dbapi.Error),
                connection_invalidated=is_lost,
                dialect=dialect,
            ) from error


class LookUps:
    """A statement on an engine whose connections commit by themselves: a look-up takes one round trip, and
    sees all that was committed before it. At most so many are made at once. Each has a connection of its own:
    on SQLite, two of one connection would share the snapshot of the earlier."""

    def __init__(self, engine: Engine, statement: Select[Any], most: int) -> None:
        self._engine = engine
        self.written = _written(statement, engine.dialect)
        self._errors = engine.dialect.loaded_dbapi.Error, SQLAlchemyError
        # Cursors, each of a connection; None stands for one that is not open.
        self._idle: SimpleQueue[Any] = SimpleQueue()
        for _ in range(most):
            self._idle.put(None)

    def find(self, parameters: Any) -> tuple[Any, ...] | None:
        """The row that the statement finds now. None: it finds none, or no connection is free soon, or the
        database does not answer. A caller that must know which asks by SQLAlchemy."""
        try:
            cursor = self._idle.get(timeout=_WAIT_SECONDS)
        except Empty:
            return None
        try:
            if cursor is None:
                connection = self._engine.raw_connection()
                connection.detach()
                cursor = connection.cursor()
            cursor.execute(self.written.text, parameters)
            rows: list[tuple[Any, ...]] = cursor.fetchall()
        except self._errors:
            self._close(cursor)
            cursor = None
            return None
        finally:
            self._idle.put(cursor)
        return rows[0] if rows else None

    def close(self) -> None:
        """Close the connections; the next look-up opens one again."""
        for _ in range(self._idle.qsize()):
            self._close(self._idle.get_nowait())
            self._idle.put(None)

    def _close(self, cursor: Any) -> None:
        if cursor is not None:
            with suppress(*self._errors):
                cursor.connection.close()

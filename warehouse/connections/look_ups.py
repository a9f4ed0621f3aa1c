"""A statement that is asked again and again, by the driver alone.

SQLAlchemy takes ten times as long to carry out a small statement as SQLite takes to answer it. That would be
most of a request for which nothing else is read (`web/http/known_answers.py`). Everything else asks by
SQLAlchemy, by which errors are told apart.
"""

from collections.abc import Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Final

from sqlalchemy import Engine, Select
from sqlalchemy.exc import SQLAlchemyError

# How long a request waits for one of the connections. Where the database does not answer, all are in use.
_WAIT_SECONDS: Final = 0.02


class LookUps:
    """A statement on an engine whose connections commit by themselves: a look-up takes one round trip, and
    sees all that was committed before it. At most so many are made at once. Each has a connection of its own:
    on SQLite, two of one connection would share the snapshot of the earlier."""

    def __init__(self, engine: Engine, statement: Select[Any], most: int) -> None:
        self._engine = engine
        self._compiled = statement.compile(dialect=engine.dialect)
        self._text = str(self._compiled)
        self._errors = engine.dialect.loaded_dbapi.Error, SQLAlchemyError
        # Cursors, each of a connection; None stands for one that is not open.
        self._idle: SimpleQueue[Any] = SimpleQueue()
        for _ in range(most):
            self._idle.put(None)

    def parameters(self, values: Mapping[str, Any]) -> Any:
        """Values as the driver takes them."""
        named = self._compiled.construct_params(values)
        order = self._compiled.positiontup
        return named if order is None else [named[name] for name in order]

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
            cursor.execute(self._text, parameters)
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

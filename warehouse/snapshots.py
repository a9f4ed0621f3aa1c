"""PostgreSQL as the API reads it: each transaction one snapshot, in as few round trips as it takes.

`Connection.begin()` sends the BEGIN at once, which also shows whether the connection is still alive:
there is no ping before it, and no isolation level to set and reset.
"""

from typing import Any, Self

import psycopg
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import make_url

from warehouse.engine import PATIENCE


class BinaryCursor(psycopg.Cursor[Any]):
    """Results come in binary: as text, cells would take twice the bytes and have to be decoded."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        return super().execute(query, params, **{**options, "binary": True})


def open_snapshots(url: str) -> Engine:
    """A pooled engine on a PostgreSQL warehouse, whose transactions only read."""
    engine = create_engine(
        make_url(url),
        isolation_level="AUTOCOMMIT",
        connect_args={**PATIENCE, "cursor_factory": BinaryCursor},
    )
    event.listen(engine, "begin", _begin)
    return engine


def _begin(connection: Any) -> None:
    connection.exec_driver_sql("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

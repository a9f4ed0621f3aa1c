"""PostgreSQL as the API reads it: each transaction is one snapshot.

The engine sends the BEGIN itself, when `Connection.begin()` is called: that shows whether a pooled
connection is still alive without a ping, and states the isolation level with it. A connection with the
execution option `one_statement` sends none where it can do without: its statement is a snapshot by itself,
in one round trip.
"""

from typing import Any, Self

import psycopg
from sqlalchemy import Connection, Engine, create_engine, event

from warehouse.connections.engine import backend_of


class BinaryCursor(psycopg.Cursor[Any]):
    """Results come in binary: as text, packed rows would take twice the bytes."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        return super().execute(query, params, **{**options, "binary": True})


def open_snapshots(url: str, most: int) -> Engine:
    """A pooled engine on a PostgreSQL warehouse, whose transactions only read; it has at most so many
    connections."""
    backend = backend_of(url)
    options = backend.pool_options(most)
    options["connect_args"]["cursor_factory"] = BinaryCursor
    options["pool_pre_ping"] = False
    engine = create_engine(backend.url, isolation_level="AUTOCOMMIT", **options)
    is_pooled = backend.allows_shared_sessions

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # Behind a pooler, a statement has its limits only in a transaction.
        if is_pooled or not connection.get_execution_options().get("one_statement"):
            connection.exec_driver_sql("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    backend.prepare_engine(engine, pooled=True)
    return engine

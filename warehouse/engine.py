"""Engines: SQLAlchemy for all that goes row by row, with the same settings everywhere."""

from pathlib import Path
from typing import Any, Final

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.pool import NullPool

from warehouse.address import SQLITE_PRAGMAS, address_of, count_open

# How long the API waits for PostgreSQL to take a connection, in seconds.
PATIENCE: Final = {"connect_timeout": 5}


def open_engine(url: str, *, pooled: bool = False) -> Engine:
    """An engine on the warehouse. SQLite's folder is made where it is missing.

    `pooled` is for the API, which keeps connections open; jobs open one when they need it, and close
    it again (`bulk.py` says why).
    """
    address = address_of(url)
    options: dict[str, Any] = {} if pooled else {"poolclass": NullPool}
    if address.sqlite:
        if address.uri:
            Path(address.uri).parent.mkdir(parents=True, exist_ok=True)
    elif pooled:
        options |= {"pool_pre_ping": True, "connect_args": PATIENCE}
    engine = create_engine(url, **options)
    if address.sqlite:
        event.listen(engine, "connect", _set_pragmas)
        event.listen(engine, "begin", _begin)
        event.listen(engine, "connect", lambda *_: count_open(address.uri, +1))
        event.listen(engine, "close", lambda *_: count_open(address.uri, -1))
    return engine


def _set_pragmas(connection: Any, _record: Any) -> None:
    # SQLAlchemy emits BEGIN itself (below), so that a read and the write after it are one snapshot.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in SQLITE_PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def _begin(connection: Any) -> None:
    # A transaction that means to write says so at once (execution option `writes`): SQLite would
    # refuse to promote a reader whose snapshot is no longer the newest, without waiting.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

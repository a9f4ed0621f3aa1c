"""Engines: SQLAlchemy for all that goes row by row, with the same settings everywhere."""

from pathlib import Path
from typing import Any, Final

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.pool import NullPool

SQLITE_PRAGMAS: Final = (
    "PRAGMA busy_timeout = 60000",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA cache_size = -64000",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA mmap_size = 1073741824",
)

# How long the API waits for PostgreSQL to take a connection, in seconds.
PATIENCE: Final = {"connect_timeout": 5}


class Unavailable(RuntimeError):
    """The warehouse does not answer."""


def open_engine(url: str, *, pooled: bool = False) -> Engine:
    """An engine on the warehouse. SQLite's folder is made where it is missing.

    `pooled` is for the API, which keeps connections open; jobs open one when they need it, and close
    it again (`bulk.py` says why).
    """
    parsed = make_url(url)
    options: dict[str, Any] = {} if pooled else {"poolclass": NullPool}
    if parsed.get_backend_name() == "sqlite":
        if parsed.database:
            Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
    elif pooled:
        options |= {"pool_pre_ping": True, "connect_args": PATIENCE}
    engine = create_engine(parsed, **options)
    if parsed.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _set_pragmas)
        event.listen(engine, "begin", _begin)
        event.listen(engine, "connect", lambda *_: _count_open(parsed, +1))
        event.listen(engine, "close", lambda *_: _count_open(parsed, -1))
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


_open: dict[str, int] = {}


def _count_open(url: URL, change: int) -> None:
    name = url.database or ""
    _open[name] = _open.get(name, 0) + change


def refuse_shared_locks(url: URL) -> None:
    """Raise where this process holds an SQLAlchemy connection to the same SQLite file."""
    if url.get_backend_name() == "sqlite" and _open.get(url.database or "", 0) > 0:
        raise RuntimeError(f"this process has {url.database} open already; see warehouse/bulk.py")

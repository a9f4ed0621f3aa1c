"""SQLAlchemy engines: the API's way into the warehouse, and that of everything that goes row by row; and
which of the two databases a URL names."""

from typing import Any, Final

from sqlalchemy import URL, Engine, create_engine, make_url
from sqlalchemy.pool import NullPool

from warehouse.connections.backend import Backend
from warehouse.connections.errors import SECRETS
from warehouse.connections.postgresql import PostgresBackend
from warehouse.connections.sqlite import SqliteBackend

# Connections that an engine of the API opens at most, unless it is told otherwise.
_MOST: Final = 20


def open_engine(url: str, *, pooled: bool = False, most: int = _MOST) -> Engine:
    """An engine on the warehouse. The folder of an SQLite file is created.

    A `pooled` one, for the API, keeps connections open, and has at most `most` of them: the next request
    for one is a TimeoutError of SQLAlchemy after a moment. Its statements and its waits for locks have an
    end. Jobs open a connection when they need it and close it again (`SqliteBackend` says why), and wait
    for as long as it takes. A transaction that writes has the execution option `writes`.
    """
    backend = backend_of(url)
    options: dict[str, Any] = {"poolclass": NullPool}
    if pooled:
        options = backend.pool_options(most)
    engine = create_engine(backend.url, **options)
    backend.prepare_engine(engine, pooled=pooled)
    return engine


def backend_of(url: str | URL) -> Backend:
    """The backend of an SQLAlchemy URL that names SQLite or PostgreSQL."""
    parsed = make_url(url)
    kind = SqliteBackend if parsed.get_backend_name() == "sqlite" else PostgresBackend
    return kind(parsed)


def display_url(url: str | URL) -> str:
    """The URL of a warehouse as people are shown it: `***` for its password, without the driver's name."""
    parsed = make_url(url)
    shown = parsed.set(drivername=parsed.get_backend_name()).difference_update_query(SECRETS)
    return shown.render_as_string(hide_password=True)

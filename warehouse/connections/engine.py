"""SQLAlchemy engines: the API's way into the warehouse, and that of everything that goes row by row."""

from typing import Any, Final

from sqlalchemy import Engine, create_engine
from sqlalchemy.pool import NullPool

from warehouse.connections.backends import backend_of

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

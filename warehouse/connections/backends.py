"""The two databases: each is a `Backend` (`backend.py`)."""

from sqlalchemy import URL, make_url

from warehouse.connections.backend import Backend
from warehouse.connections.postgresql import PostgresBackend
from warehouse.connections.sqlite import SqliteBackend


def backend_of(url: str | URL) -> Backend:
    """The backend of an SQLAlchemy URL that names SQLite or PostgreSQL."""
    parsed = make_url(url)
    kind = SqliteBackend if parsed.get_backend_name() == "sqlite" else PostgresBackend
    return kind(parsed)

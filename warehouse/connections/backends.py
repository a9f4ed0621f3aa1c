"""The two databases: each is a `Backend` (`backend.py`)."""

from sqlalchemy import URL, make_url

from warehouse.connections.backend import Backend
from warehouse.connections.errors import SECRETS
from warehouse.connections.postgresql import PostgresBackend
from warehouse.connections.sqlite import SqliteBackend


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

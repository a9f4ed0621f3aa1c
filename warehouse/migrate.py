"""Bring a warehouse to the current schema; every command calls this first."""

from sqlalchemy import Engine

from warehouse.tables import metadata


def migrate(engine: Engine) -> None:
    """Create or upgrade the tables."""
    metadata.create_all(engine)

"""Bring a warehouse to the current schema; every command calls this first."""

from sqlalchemy import Engine

from warehouse.planning import state_plans
from warehouse.tables import metadata


def migrate(engine: Engine) -> None:
    """Create or upgrade the tables."""
    metadata.create_all(engine)
    if engine.dialect.name == "sqlite":
        with engine.connect().execution_options(writes=True) as connection, connection.begin():
            state_plans(connection)

"""Bring a warehouse to the current schema; every command does so first.

A new revision is made with `revise("what it does")` from a warehouse that is at the one before. Before
that, `python -m tests.migrations` stores data of the newest one, so that it is tested from then on how
they are migrated.
"""

from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, inspect, text

from warehouse.migrated import HEAD
from warehouse.planning import state_plans
from warehouse.settings import SettingError

_SCRIPTS: Final = Path(__file__).parent / "migrations"
# Any number, the same in every process: whoever migrates PostgreSQL holds this lock.
_LOCK: Final = 7_305_811


class NewerSchema(SettingError):
    """A newer version of the program has migrated the warehouse; this one cannot use it."""


def revision_of(connection: Connection) -> str | None:
    """The revision that a database is at; None where it holds no warehouse."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.scalar(text("SELECT version_num FROM alembic_version"))


def is_current(connection: Connection) -> bool:
    """Whether the warehouse is at the newest revision."""
    return revision_of(connection) == HEAD


def known_revisions() -> list[str]:
    """All revisions, the oldest first."""
    from alembic.script import ScriptDirectory

    return [one.revision for one in ScriptDirectory(str(_SCRIPTS)).walk_revisions()][::-1]


def migrate(engine: Engine) -> None:
    """Create or upgrade the tables; nothing where they are current. Processes take turns.

    All of it is one transaction, on SQLite too. Raises NewerSchema.
    """
    with engine.connect() as connection:
        if is_current(connection):
            return
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        if not is_current(connection):
            _refuse_newer(revision_of(connection))
            _upgrade(connection)


def _refuse_newer(revision: str | None) -> None:
    if revision is not None and revision not in known_revisions():
        raise NewerSchema(
            f"the warehouse has schema {revision}, and this version of the program knows none newer "
            f"than {HEAD}: use the version that migrated it, or restore a backup from before"
        )


def _upgrade(connection: Connection) -> None:
    # Imported here: it is needed once in a warehouse's life, and costs a tenth of a second.
    from alembic import command

    command.upgrade(_config(connection), "head")
    if connection.dialect.name == "sqlite":
        state_plans(connection)


def _config(connection: Connection):  # type: ignore[no-untyped-def]
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS))
    config.attributes["connection"] = connection
    return config


def revise(engine: Engine, message: str, number: str) -> None:
    """Write a revision with what the tables have and the warehouse has not; to be read and mended."""
    from alembic import command

    with engine.connect() as connection, connection.begin():
        command.revision(_config(connection), message, autogenerate=True, rev_id=number)

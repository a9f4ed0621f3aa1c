"""Bring a warehouse to the current schema. Every command does so before it does anything else."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import DBAPIError

from warehouse import command
from warehouse.connections.arrow import ArrowConnection, open_arrow
from warehouse.connections.engine import backend_of, display_url, open_engine
from warehouse.migrations.sqlite_stats import write_statistics
from warehouse.persons.hash_secret import agree_on_hash_secret
from warehouse.setting_values import SettingError

SCRIPTS: Final = Path(__file__).parent
# How long a change waits for a table that is in use: all who come later wait behind it. They get their turn
# in the pause before the next try.
_LOCK_SECONDS: Final = 3
_PAUSE_SECONDS: Final = 1
_TRIES: Final = 20
_LOCK_NOT_AVAILABLE: Final = "55P03"
# The newest revision: files under versions/ begin with their number.
HEAD: Final = max(file.name for file in (SCRIPTS / "versions").glob("[0-9]*.py")).partition("_")[0]


class UnknownSchema(SettingError):
    """Another version of the program made or migrated the warehouse; this one cannot use it."""


class MigrationBlocked(SettingError):
    """Somebody has the tables in use, and goes on with that for longer than a migration waits."""


class NoWarehouse(SettingError):
    """There is no warehouse where a command that only reads looks for one."""


@contextmanager
def open_migrated(url: str, *, creates: bool = True) -> Iterator[ArrowConnection]:
    """A connection for jobs on the warehouse, after `migrate`. Without `creates`, one that is not there is
    not created. Raises as `open_arrow`, `migrate`, `require_warehouse` and `require_own_sessions`."""
    if not creates:
        require_warehouse(url)
    engine = open_engine(url)
    require_own_sessions(engine, url)
    migrate(engine)
    with open_arrow(url) as connection:
        yield connection


def require_warehouse(url: str) -> None:
    """Raise NoWarehouse where there is none, and creates nothing, not even an empty file."""
    if not backend_of(url).is_missing:
        engine = open_engine(url)
        with engine.connect() as connection:
            if revision_of(connection) is not None:
                return
    raise NoWarehouse(
        f"there is no warehouse at {display_url(url)}: set WAREHOUSE_URL to one, or create it by importing "
        "shops"
    )


def require_own_sessions(engine: Engine, url: str) -> None:
    """Raise SettingError for a URL at which a job would share its sessions with others: its settings would
    become theirs, and its temporary tables would get lost."""
    if backend_of(url).shares_sessions(engine):
        raise SettingError(
            "WAREHOUSE_URL names a pooler in transaction mode (such as pgbouncer), through which only the "
            "API can work: give jobs the host and port of PostgreSQL itself, without prepare_threshold"
        )


def migrate(engine: Engine) -> None:
    """Bring the tables to the current schema, and agree on the secret of e-mail hashes. Raises UnknownSchema,
    and SettingError for another HASH_SECRET than the one in use. Commits."""
    migrate_schema(engine)
    agree_on_hash_secret(engine)


def migrate_schema(engine: Engine) -> None:
    """Create or upgrade the tables in one transaction; nothing where they are current.

    Processes that migrate at once wait for each other. Raises UnknownSchema and MigrationBlocked. Commits.
    """
    backend = backend_of(engine.url)
    for _ in range(_TRIES):
        with engine.connect() as connection:
            if is_current(connection):
                return
        try:
            _migrate_now(engine)
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", "") != _LOCK_NOT_AVAILABLE:
                raise
            with engine.connect() as connection:
                holder = backend.oldest_reader(connection) or "nobody any more"
            time.sleep(_PAUSE_SECONDS)
        else:
            return
    raise MigrationBlocked(
        f"the schema is not changed: others had its tables in use each time ({_TRIES} times, "
        f"{_LOCK_SECONDS} s each), the last one {holder}: let it end, or stop it, and try again"
    )


def _migrate_now(engine: Engine) -> None:
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        backend_of(engine.url).lock_migrations(connection, _LOCK_SECONDS)
        if not is_current(connection):
            revision = revision_of(connection)
            if revision is not None:
                _refuse_unknown(revision)
            _upgrade(connection)


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

    return [script.revision for script in ScriptDirectory(str(SCRIPTS)).walk_revisions()][::-1]


def alembic_config(connection: Connection):  # type: ignore[no-untyped-def]
    """Alembic's configuration for its commands on a connection."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    config.attributes["connection"] = connection
    return config


def _refuse_unknown(revision: str) -> None:
    known = known_revisions()
    if revision < known[0]:
        raise UnknownSchema(
            f"the warehouse was made by a development version (its schema is {revision}), and this version "
            f"cannot take it over: export its shops with the version that made it ("
            f"{command('web shops export')}), and import them into a new warehouse"
        )
    if revision not in known:
        raise UnknownSchema(
            f"the warehouse has schema {revision}, and this version of the program knows schemas "
            f"up to {HEAD}: use the version that migrated it, or restore an older backup"
        )


def _upgrade(connection: Connection) -> None:
    # Imported here: a warehouse needs it once per revision, and it takes a tenth of a second.
    from alembic import command

    command.upgrade(alembic_config(connection), "head")
    if connection.dialect.name == "sqlite":
        write_statistics(connection)

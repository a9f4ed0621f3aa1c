"""The migrations make the tables that the code declares, on both databases, at once from many sides,
and all or nothing. The fate of data is in `migrations/`."""

import random
import shutil
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from tests.support import next_revision
from tests.support.commands import Command, start, start_job
from tests.support.product import Product
from tests.support.worlds import world
from warehouse.catalogue import SUMMARIES
from warehouse.connections.engine import open_engine
from warehouse.migrations import migrate
from warehouse.migrations.migrate import HEAD
from warehouse.migrations.revise import write_revision
from warehouse.tables import base
from warehouse.tables.base import integer, metadata


@pytest.fixture
def migrated() -> bool:
    return False


def test_migrated_warehouse_has_the_declared_tables(warehouse_url: str) -> None:
    engine = open_engine(warehouse_url)
    migrate.migrate(engine)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
        assert migrate.is_current(connection)


def test_no_cells_are_compressed(postgres_url: str) -> None:
    engine = open_engine(postgres_url)
    migrate.migrate(engine)
    plain = sa.text(
        "SELECT relname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid "
        "WHERE attname = 'packed_dims' AND relkind = 'r' AND attstorage = 'e'"
    )
    with engine.connect() as connection:
        found = set(connection.execute(plain).scalars())
    assert found == {summary.table for summary in SUMMARIES if summary.packed_dims}


def test_head_is_the_newest_revision() -> None:
    scripts = ScriptDirectory(str(migrate.SCRIPTS))
    assert scripts.get_current_head() == HEAD


def test_processes_that_migrate_at_once_all_succeed(warehouse_url: str) -> None:
    # A rollup migrates first.
    for command in [start_job(warehouse_url, "rollup") for _ in range(4)]:
        command.finish()


def made_up_migration(url: str, statement: int = 0) -> Command:
    return start("tests.support.next_revision", url, str(statement))


def state(url: str) -> tuple[str | None, list[str], int, set[str]]:
    """Revision, tables, number of events, names of the shops."""
    engine = open_engine(url)
    with engine.connect() as connection:
        return (
            migrate.revision_of(connection),
            sorted(sa.inspect(connection).get_table_names()),
            int(connection.scalar(sa.text("SELECT COUNT(*) FROM raw_event")) or 0),
            set(connection.scalars(sa.text("SELECT name FROM shop"))),
        )


@pytest.fixture
def warehouse_with_data(warehouse_url: str) -> str:
    some = world(3, 8)
    for kind in ("shops", "forms", "events"):
        Product(warehouse_url).load(kind, some.records[kind])
    return warehouse_url


def test_a_migration_that_is_killed_has_done_nothing(warehouse_with_data: str) -> None:
    url = warehouse_with_data
    before = state(url)
    # There are 16 or more, with the commit; the first few look whether there is anything to do.
    for statement in sorted(random.sample(range(5, 17), 3)):
        assert made_up_migration(url, statement).wait() == -9, statement
        assert state(url) == before
        # The program of before goes on with it.
        assert Product(url).verify_all()
    made_up_migration(url).finish()
    revision, tables, events, names = state(url)
    assert (revision, events, names) == (next_revision.NUMBER, before[2], {"made up"})
    assert set(tables) ^ set(before[1]) == {"made_up", "code_usage"}


def test_migrations_of_data_at_once_all_succeed(warehouse_with_data: str) -> None:
    for command in [made_up_migration(warehouse_with_data) for _ in range(3)]:
        command.finish()
    assert state(warehouse_with_data)[0] == next_revision.NUMBER


def test_a_warehouse_of_a_newer_version_is_refused_in_one_line(warehouse_url: str) -> None:
    migrate.migrate(open_engine(warehouse_url))
    made_up_migration(warehouse_url).finish()
    for module in (["jobs", "status"], ["web", "keys", "list"]):
        said = start(*module, settings={"WAREHOUSE_URL": warehouse_url}).finish(1)
        assert "the warehouse has schema 9999, and this version of the program" in said
        assert said.count("\n") == 1


def test_a_new_revision_has_what_the_newest_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(migrate.SCRIPTS, tmp_path / "migrations")
    monkeypatch.setattr(migrate, "SCRIPTS", tmp_path / "migrations")
    changed = sa.MetaData(naming_convention=metadata.naming_convention)
    for table in metadata.tables.values():
        table.to_metadata(changed)
    changed.tables["daily_attribution"].append_column(integer("discounted"))
    monkeypatch.setattr(base, "metadata", changed)
    written = write_revision("discounts by type")
    assert written.name == f"{int(HEAD) + 1:04}_discounts_by_type.py"
    text = written.read_text()
    assert f"down_revision = '{HEAD}'" in text
    assert text.count(" batch_op.") == 2
    assert "batch_op.add_column(sa.Column('discounted', sa.BigInteger()" in text

"""The migrations make the tables that the code declares, on both databases, at once from many sides,
and all or nothing. `test_data.py` has what becomes of data."""

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
from tests.support.shop_builder import writing
from tests.support.worlds import world
from warehouse.catalogue import SUMMARIES
from warehouse.connections.engine import open_engine
from warehouse.migrations import migrate
from warehouse.migrations.migrate import HEAD
from warehouse.migrations.revise import write_revision
from warehouse.tables import base, dropped_file, import_batch, import_file
from warehouse.tables.base import integer, metadata


@pytest.fixture
def migrated() -> bool:
    return False


def test_migrated_warehouse_has_the_declared_tables(warehouse_url: str) -> None:
    engine = open_engine(warehouse_url)
    migrate.migrate(engine)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == [], (
            "add a revision: `make migration NAME=...`"
        )
        assert migrate.is_current(connection)


def test_no_serial_number_is_given_twice(warehouse_url: str) -> None:
    engine = open_engine(warehouse_url)
    migrate.migrate(engine)
    counted = [table for table in metadata.sorted_tables if table.autoincrement_column is not None]
    assert len(counted) > 8
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        for table in counted:
            (key,) = table.primary_key.columns
            given = []
            for _ in range(2):
                given.append(connection.scalar(table.insert().values({}).returning(key)))
                connection.execute(table.delete())
            assert given[0] < given[1], table.name


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


@pytest.fixture
def changed_schema(tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> sa.Engine:
    """A warehouse of which the next migration changes tables."""
    engine = open_engine(postgres_url)
    migrate.migrate(engine)
    scripts = next_revision.scripts(tmp_path, next_revision.CHANGES)
    monkeypatch.setattr(migrate, "SCRIPTS", scripts)
    monkeypatch.setattr(migrate, "HEAD", next_revision.NUMBER)
    monkeypatch.setattr(migrate, "_LOCK_SECONDS", 1)
    return engine


def test_a_migration_waits_for_nobody_for_long_and_names_who_is_in_its_way(
    changed_schema: sa.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrate, "_TRIES", 2)
    with changed_schema.connect() as reader:
        reader.execute(sa.text("SET application_name = 'somewhere:123'"))
        reader.execute(sa.text("SELECT 1 FROM raw_event"))
        with pytest.raises(migrate.MigrationBlocked, match="the last one somewhere:123, since"):
            migrate.migrate_schema(changed_schema)
        # Nothing is changed, and nobody waits behind it.
        with changed_schema.connect() as other:
            other.execute(sa.text("SET lock_timeout = '1ms'"))
            assert other.scalar(sa.text("SELECT COUNT(*) FROM raw_event")) == 0
            assert not migrate.is_current(other)


def test_a_migration_tries_again(
    changed_schema: sa.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with changed_schema.connect() as reader:
        reader.execute(sa.text("SELECT 1 FROM raw_event"))
        monkeypatch.setattr(migrate.time, "sleep", lambda _: reader.rollback())
        migrate.migrate_schema(changed_schema)
        assert migrate.is_current(reader)


def test_a_warehouse_of_a_newer_version_is_refused_in_one_line(warehouse_url: str) -> None:
    migrate.migrate(open_engine(warehouse_url))
    made_up_migration(warehouse_url).finish()
    for module in (["jobs", "status"], ["web", "keys", "list"]):
        said = start(*module, settings={"WAREHOUSE_URL": warehouse_url}).finish(1)
        assert "the warehouse has schema 9999, and this version of the program" in said
        assert said.count("\n") == 1


def test_a_warehouse_of_a_development_version_is_refused_in_one_line(warehouse_url: str) -> None:
    engine = open_engine(warehouse_url)
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        connection.execute(sa.text("CREATE TABLE alembic_version (version_num VARCHAR(32))"))
        connection.execute(sa.text("INSERT INTO alembic_version VALUES ('1001')"))
    for module in (["jobs", "status"], ["web", "keys", "list"]):
        said = start(*module, settings={"WAREHOUSE_URL": warehouse_url}).finish(1)
        assert "was made by a development version (its schema is 1001)" in said
        assert "export its shops with the version that made it" in said
        assert said.count("\n") == 1


@pytest.mark.parametrize("purged", [0, 3])
def test_an_undo_of_a_dropped_file_that_was_asked_for_goes_on(
    warehouse_url: str, purged: int
) -> None:
    """In 1010 the file had a state for it, and a job was to begin the undo."""
    engine = open_engine(warehouse_url)
    migrate.migrate(engine)
    stored, file = "dropped-1-a.csv", _row(import_file, shop_key=1, kind="events", state="done")
    asked = _row(dropped_file, shop_key=1, name="a.csv", stored=stored, state="undo asked")
    with writing(engine) as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '1010'"))
        connection.execute(dropped_file.insert(), asked)
        for number, name in ((7, stored), (8, "dropped-1-b.csv")):
            own = {"import_id": number, "file": f"/landing/{name}"}
            connection.execute(import_file.insert(), file | own)
        connection.execute(import_batch.insert(), _row(import_batch, import_id=7, purged=purged))
    migrate.migrate(engine)
    with engine.connect() as connection:
        states = sa.select(import_file.c.state).order_by(import_file.c.import_id)
        assert connection.scalars(states).all() == ["done" if purged else "undoing", "done"]
        assert connection.scalars(sa.select(dropped_file.c.state)).all() == ["imported"]
    engine.dispose()


def _row(table: sa.Table, **given: object) -> dict[str, object]:
    """A row with these values, and nothing in its other columns."""
    nothing: dict[str, object] = {
        column.name: "" if isinstance(column.type, sa.Text) else 0 for column in table.columns
    }
    return nothing | given


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
    assert text.count(" batch_op.") == 1
    assert "batch_op.add_column(sa.Column('discounted', sa.BigInteger()" in text

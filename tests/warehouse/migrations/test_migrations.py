"""The migrations make the tables that the code declares, on both databases, at once from many sides,
and all or nothing. `test_data.py` has what becomes of data."""

import random
import shutil
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory

from tests.support import next_revision
from tests.support.commands import Command, start, start_job
from tests.support.product import Product
from tests.support.shop_builder import writing
from tests.support.worlds import world
from warehouse.catalogue import SUMMARIES
from warehouse.connections.engine import open_engine
from warehouse.migrations import migrate
from warehouse.migrations.__main__ import write_revision
from warehouse.migrations.migrate import HEAD
from warehouse.operations import tasks
from warehouse.tables import base, forgotten, import_batch, import_file, task
from warehouse.tables.base import integer, metadata


@pytest.fixture
def migrated() -> bool:
    return False


# Tables that there are no more, as they were.
DROPPED_FILE = sa.Table(
    "dropped_file",
    sa.MetaData(),
    sa.Column("shop_key", sa.BigInteger, primary_key=True, autoincrement=False),
    *(sa.Column(name, sa.Text) for name in ("name", "stored", "state", "told")),
    *(sa.Column(name, sa.BigInteger) for name in ("bytes", "dropped_at", "since", "tries")),
)
REJECT_RETRY = sa.Table(
    "reject_retry",
    sa.MetaData(),
    sa.Column("shop_key", sa.BigInteger, primary_key=True, autoincrement=False),
    *(
        sa.Column(name, sa.BigInteger)
        for name in ("asked_at", "tried_at", "tried_through", "accepted")
    ),
)


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
    asked = _row(DROPPED_FILE, shop_key=1, name="a.csv", stored=stored, state="undo asked")
    with writing(engine) as connection:
        DROPPED_FILE.create(connection)
        connection.execute(DROPPED_FILE.insert(), asked)
        for number, name in ((7, stored), (8, "dropped-1-b.csv")):
            own = {"import_id": number, "file": f"/landing/{name}"}
            connection.execute(import_file.insert(), file | own)
        connection.execute(import_batch.insert(), _row(import_batch, import_id=7, purged=purged))
        _upgrade(connection, "1011")
    with engine.connect() as connection:
        states = sa.select(import_file.c.state).order_by(import_file.c.import_id)
        assert connection.scalars(states).all() == ["done" if purged else "undoing", "done"]
        assert connection.scalars(sa.select(DROPPED_FILE.c.state)).all() == ["imported"]
    engine.dispose()


def test_what_pages_had_asked_for_goes_on(warehouse_url: str) -> None:
    """In 1013 a dropped file had states, and a retry of rejects a table."""
    engine = open_engine(warehouse_url)
    migrate.migrate(engine)
    day = 86_400_000_000
    states = ("received", "shown", "refused", "postponed", "landed", "imported")
    files = [
        _row(
            DROPPED_FILE,
            shop_key=number,
            name='a "b".csv',
            stored=f"dropped-{number}",
            dropped_at=5,
            state=state,
            since=day + 7,
            told='{"rows": 3}',
            tries=2,
        )
        for number, state in enumerate(states)
    ]
    retries = [
        _row(REJECT_RETRY, shop_key=0, asked_at=9, tried_through=40, accepted=3),
        _row(REJECT_RETRY, shop_key=1, asked_at=9, tried_at=11, accepted=5),
    ]
    with writing(engine) as connection:
        for table, rows in ((DROPPED_FILE, files), (REJECT_RETRY, retries)):
            table.create(connection)
            connection.execute(table.insert(), rows)
        task.drop(connection)
        _upgrade(connection, "1014")
    with engine.connect() as connection:
        found = [tasks.find(connection, number, tasks.FILE) for number in range(len(states))]
        asked = [tasks.find(connection, number, tasks.REJECTS) for number in range(2)]
    assert [(one.kind, one.due_at, one.attempts, one.ended_at) for one in found if one] == [
        ("look", day + 7, 2, 0),
        ("look", day + 7, 2, day + 7),
        ("look", day + 7, 2, day + 7),
        ("land", 2 * day, 2, 0),
        ("import", day + 7, 2, 0),
        ("import", day + 7, 2, day + 7),
    ]
    (one, *_) = filter(None, found)
    assert (one.item, one.payload, one.asked_at) == ("dropped-0", 'a "b".csv', 5)
    assert one.result == {"rows": 3}
    assert [(one.payload, one.rows, one.ended_at) for one in asked if one] == [
        ("40", 3, 0),
        ("0", 5, 11),
    ]
    engine.dispose()


def test_undos_and_forgets_that_were_asked_for_go_on(warehouse_url: str) -> None:
    """In 1015 the rows of imports and persons asked for it."""
    engine = open_engine(warehouse_url)
    migrate.migrate(engine)
    imports = [("undoing", 0), ("undoing", 5), ("undone", 5), ("done", 0)]
    persons = [("a", 1, 30, 0, 0), ("b", 1, 20, 0, 0), ("c", 2, 10, 5, 0), ("d", 3, 10, 5, 6)]
    with writing(engine) as connection:
        for number, (state, gone_at) in enumerate(imports, 7):
            own = _row(import_file, import_id=number, state=state, rows_gone_at=gone_at)
            connection.execute(import_file.insert(), own)
        for hashed, shop_key, asked_at, gone_at, removed_at in persons:
            own = _row(forgotten, shop_key=shop_key, identifier_hash=hashed, asked_at=asked_at)
            own |= {"rows_gone_at": gone_at, "removed_at": removed_at}
            connection.execute(forgotten.insert(), own)
        _upgrade(connection, "1016")
    with engine.connect() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(task)) == 2
        undo = tasks.find(connection, 0, "import 7")
        forget = tasks.find(connection, 1, tasks.PERSONS)
    assert undo
    assert (undo.kind, undo.item, undo.ended_at) == (tasks.UNDO, "7", 0)
    assert forget
    assert (forget.kind, forget.asked_at, forget.ended_at) == (tasks.FORGET, 20, 0)
    engine.dispose()


def _upgrade(connection: sa.Connection, revision: str) -> None:
    with Operations.context(MigrationContext.configure(connection)):
        ScriptDirectory(str(migrate.SCRIPTS)).get_revision(revision).module.upgrade()


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

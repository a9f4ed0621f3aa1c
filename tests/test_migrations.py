"""The migrations make the tables that the code declares, on both databases, at once from many sides."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from warehouse import migrate
from warehouse.engine import open_engine
from warehouse.tables import metadata


def test_migrated_warehouse_has_the_declared_tables(warehouse_url: str) -> None:
    engine = open_engine(warehouse_url)
    migrate.migrate(engine)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
        assert migrate.is_current(connection)


def test_head_is_the_newest_revision() -> None:
    scripts = ScriptDirectory(str(migrate._SCRIPTS))
    assert scripts.get_current_head() == migrate.HEAD


def test_processes_that_migrate_at_once_all_succeed(warehouse_url: str) -> None:
    code = (
        "import sys; from warehouse.engine import open_engine; "
        "from warehouse.migrate import migrate; migrate(open_engine(sys.argv[1]))"
    )
    command = [sys.executable, "-c", code, warehouse_url]
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: subprocess.run(command, capture_output=True), range(4)))
    assert [process.stderr.decode() for process in done if process.returncode] == []

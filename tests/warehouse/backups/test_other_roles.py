"""A restore on PostgreSQL beside sessions of another role."""

import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url

from tests.conftest import NewUrl
from tests.support.backups import SMALL, Run, data_version, done, fill
from tests.support.commands import set_values, start
from tests.support.postgres import administer
from warehouse.connections.engine import open_engine

SHORT = partial(set_values, {"warehouse.backups.postgresql._WAIT_SECONDS": 1})
# A restore that has not ended by then hangs.
PATIENCE_SECONDS = 30


@pytest.fixture
def owner_url(postgres_server: URL, postgres_url: str) -> Iterator[str]:
    """The URL of a database by a role that owns it, and is nothing else on the server."""
    role, url = f"owner_{uuid.uuid4().hex}", make_url(postgres_url)
    administer(postgres_server, f"CREATE ROLE {role} LOGIN PASSWORD 'own'")
    administer(url, f'ALTER DATABASE "{url.database}" OWNER TO {role}')
    try:
        yield url.set(username=role, password="own").render_as_string(hide_password=False)
    finally:
        administer(url, f"REASSIGN OWNED BY {role} TO CURRENT_USER")
        administer(postgres_server, f"DROP ROLE {role}")


@pytest.mark.parametrize("source", ["postgresql", "sqlite", "another schema"])
def test_a_restore_waits_for_another_role_for_a_limited_time(
    source: str,
    owner_url: str,
    postgres_url: str,
    new_sqlite_url: NewUrl,
    files: dict[str, Path],
    run: Run,
    tmp_path: Path,
) -> None:
    backup = tmp_path / "backup"
    filled = new_sqlite_url() if source == "sqlite" else owner_url
    fill(filled, files, run, "shops")
    done(run(filled, "backup", backup))
    fill(owner_url, files, run, *SMALL, "events")
    done(run(owner_url, "rollup"))
    before = data_version(owner_url)
    if source == "another schema":
        other = make_url(postgres_url)
        administer(other, "UPDATE alembic_version SET version_num = '1000'")
    with open_engine(postgres_url).connect() as another:
        role, pid = another.execute(sa.text("SELECT current_user, pg_backend_pid()")).one()
        another.execute(sa.text("SET application_name = 'reports'"))
        another.execute(sa.text("SELECT * FROM daily_all_forms LIMIT 1"))
        words = ("restore", str(backup), "--force")
        restore = start("jobs", *words, settings={"WAREHOUSE_URL": owner_url}, before=SHORT)
        try:
            assert restore.wait(PATIENCE_SECONDS) == 1
        finally:
            restore.kill_all()
        assert restore.printed == (
            f"Error: {backup} was not restored: it waits for a session of the role {role!r} (pid {pid}, "
            "application 'reports'); end it, and restore again\n"
        )
        assert data_version(owner_url) == before
    if source != "another schema":
        done(run(owner_url, "verify", "--all"))
    done(run(owner_url, "restore", backup, "--force"))
    assert data_version(owner_url) > before


def test_a_restore_ends_the_sessions_that_its_role_may_end(
    owner_url: str, postgres_url: str, files: dict[str, Path], run: Run, tmp_path: Path
) -> None:
    backup = tmp_path / "backup"
    fill(owner_url, files, run, "shops")
    done(run(owner_url, "backup", backup))
    with open_engine(owner_url).connect() as another:
        another.execute(sa.text("SELECT * FROM daily_all_forms LIMIT 1"))
        # The role of the tests' server is a superuser.
        words = ("restore", str(backup), "--force")
        restore = start("jobs", *words, settings={"WAREHOUSE_URL": postgres_url}, before=SHORT)
        assert restore.wait(PATIENCE_SECONDS) == 0, restore.printed
        another.invalidate()

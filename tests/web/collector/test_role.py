"""The collector under a role of its own: it takes events, and can read keys of pages and nothing else."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, NullPool, create_engine, make_url
from sqlalchemy.exc import ProgrammingError

from tests.support.commands import run_web
from tests.support.serving import collected
from tests.support.shop_builder import ShopBuilder, writing
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from tests.web.collector.conftest import new_write_key
from tests.web.collector.lines import files_of
from tests.web.collector.sending import call, send
from warehouse.connections.engine import open_engine
from warehouse.tables.base import metadata


@pytest.fixture
def owner(postgres_url: str) -> Iterator[Engine]:
    engine = open_engine(postgres_url)
    yield engine
    engine.dispose()


@pytest.fixture
def role_url(postgres_url: str, owner: Engine) -> Iterator[str]:
    """As the command prints it."""
    made = run_web(postgres_url, "collector-role")
    assert (made.status, made.errors) == (0, "")
    url = made.output.splitlines()[-1]
    yield url
    name = make_url(url).username
    with writing(owner) as connection:
        # Roles outlive the database of a test.
        connection.exec_driver_sql(f'DROP OWNED BY "{name}"')
        connection.exec_driver_sql(f'DROP ROLE "{name}"')


def refused(url: str, statement: str) -> bool:
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as connection:
        try:
            connection.exec_driver_sql(statement)
        except ProgrammingError as error:
            return "permission denied" in str(error)
    return False


def test_a_collector_under_its_role_takes_events(
    role_url: str, owner: Engine, landing: Path
) -> None:
    shop = ShopBuilder(owner)
    key = new_write_key(owner, shop.shop_id)
    with collected(role_url, landing) as (server, port):
        wait_until(lambda: send(port, key, [call("Form Viewed", "s1")]) == 200)
        other = new_write_key(owner, shop.shop_id)
        wait_until(lambda: send(port, other, [call("Form Viewed", "s2")]) == 200)
        wait_until(lambda: send(port, key, [call("Form Viewed", "undefined")]) == 200)
        with writing(owner) as connection:
            connection.exec_driver_sql("UPDATE write_key SET revoked_at = 1")
        wait_until(lambda: send(port, key, [call("Form Viewed", "s1")]) == 401)
        server.send(signal.SIGTERM)
        assert server.wait(PATIENCE_SECONDS) == 0
    # As it ended, it has brought its counts.
    with owner.connect() as connection:
        assert connection.exec_driver_sql("SELECT SUM(calls) FROM uncollected").scalar() == 1
    taken = "".join(path.read_text() for path in files_of(landing))
    assert "visitor of s1" in taken
    assert "visitor of s2" in taken


def test_the_role_reads_keys_and_writes_counts_and_does_nothing_else(role_url: str) -> None:
    assert not refused(role_url, "SELECT write_key, shop_key, origins, revoked_at FROM write_key")
    assert not refused(role_url, "SELECT shop_key, shop_id FROM shop")
    for table in metadata.sorted_tables:
        is_its_own = table.name in ("uncollected", "form_sighting", "collector")
        select = f'SELECT * FROM "{table.name}"'
        assert refused(role_url, select) is not is_its_own, table.name
        change = f'UPDATE "{table.name}" SET {table.columns.keys()[0]} = DEFAULT WHERE false'
        assert refused(role_url, change) is not is_its_own, table.name
        assert refused(role_url, f'DELETE FROM "{table.name}"'), table.name
    # A member's address.
    assert refused(role_url, "SELECT created_by FROM write_key")
    assert refused(role_url, "UPDATE write_key SET origins = '*'")
    assert refused(role_url, "CREATE TABLE public.own (a int)")


def test_a_further_call_changes_the_password_and_takes_other_rights_away(
    role_url: str, postgres_url: str, owner: Engine
) -> None:
    name = make_url(role_url).username
    with writing(owner) as connection:
        connection.exec_driver_sql(f'GRANT SELECT ON member TO "{name}"')
        stored = "SELECT rolpassword FROM pg_authid WHERE rolname = %s"
        (before,) = connection.exec_driver_sql(stored, (name,)).scalars()
    assert not refused(role_url, "SELECT * FROM member")
    again = run_web(postgres_url, "collector-role").output.splitlines()[-1]
    assert make_url(again).password != make_url(role_url).password
    assert refused(again, "SELECT * FROM member")
    assert not refused(again, "SELECT shop_id FROM shop")
    with owner.connect() as connection:
        (after,) = connection.exec_driver_sql(stored, (name,)).scalars()
    assert before.startswith("SCRAM-SHA-256$")
    assert before != after


def test_sqlite_has_no_roles(tmp_path: Path) -> None:
    made = run_web(f"sqlite:///{tmp_path / 'warehouse.db'}", "collector-role")
    assert (made.status, made.output) == (1, "")
    assert "only PostgreSQL has roles" in made.errors

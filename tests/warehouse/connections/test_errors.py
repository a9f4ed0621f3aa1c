"""Outages, collisions, and defects."""

from pathlib import Path

import adbc_driver_manager
import pyarrow as pa
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from tests.conftest import NewUrl
from warehouse.connections.arrow import PostgresConnection, open_arrow
from warehouse.connections.engine import open_engine
from warehouse.connections.errors import (
    Unavailable,
    defect,
    is_collision,
    is_outage,
    may_be_of_rows,
    unanswered,
)

_NO_SPACE = """CREATE FUNCTION full_disk() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'could not extend file "base/1/2": No space left on device'; END $$"""


def refusal(url: str, sql: str) -> adbc_driver_manager.Error:
    with (
        pytest.raises(adbc_driver_manager.Error) as refused,
        open_arrow(url, wait_for_locks=False) as connection,
    ):
        connection.table(sql)
    return refused.value


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT nothing FROM shop",
        "SELEC 1",
        "INSERT INTO shop (shop_key, shop_id) VALUES (1, 'a'), (2, 'a')",
        "INSERT INTO shop (shop_key, name) VALUES (1, NULL)",
    ],
)
def test_a_refused_statement_is_no_outage(warehouse_url: str, sql: str) -> None:
    error = refusal(warehouse_url, sql)
    assert not is_outage(error)
    assert not is_collision(error)


@pytest.mark.parametrize(
    "sql",
    ["SELECT nothing FROM shop", "INSERT INTO shop (shop_key, shop_id) VALUES (1, 'a'), (2, 'a')"],
)
def test_a_refused_statement_of_the_api_is_no_outage(warehouse_url: str, sql: str) -> None:
    """It read "the warehouse does not answer"."""
    engine = open_engine(warehouse_url)
    with pytest.raises(DBAPIError) as refused, engine.connect() as connection:
        connection.execute(text(sql))
    engine.dispose()
    assert not is_outage(refused.value)


def test_outages_of_the_api(postgres_url: str, tmp_path: Path) -> None:
    ended = open_engine(postgres_url)
    with pytest.raises(DBAPIError) as gone, ended.connect() as connection:
        connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
    ended.dispose()
    errors: list[BaseException] = [gone.value, PoolTimeout()]
    (tmp_path / "w.db").write_bytes(b"no database" * 1000)
    for url in ("postgresql+psycopg://user@127.0.0.1:1/no", f"sqlite:///{tmp_path / 'w.db'}"):
        engine = open_engine(url)
        with pytest.raises((DBAPIError, Unavailable)) as refused, engine.connect() as connection:
            connection.execute(text("SELECT name FROM shop"))
        engine.dispose()
        errors.append(refused.value)
    for error in errors:
        assert is_outage(error), error


def test_a_server_that_is_gone_is_an_outage(postgres_url: str) -> None:
    error = refusal(postgres_url, "SELECT pg_terminate_backend(pg_backend_pid())")
    assert is_outage(error)
    # One process of it may be gone because of the statement.
    assert may_be_of_rows(error)


def test_a_job_that_does_nothing_in_a_transaction_loses_its_locks(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is frozen for good would keep them."""
    with open_arrow(postgres_url) as other:
        # The frozen one alone has it: on a busy machine the other does nothing for that long as well.
        monkeypatch.setattr(PostgresConnection, "_IDLE_TIMEOUT", "100ms")
        with open_arrow(postgres_url) as frozen:
            frozen.lock_table("shop")
            other.lock_table("shop")
            with pytest.raises(adbc_driver_manager.Error) as ended:
                frozen.value("SELECT 1")
            other.rollback()
    assert is_outage(ended.value)


def test_a_server_that_does_not_answer_is_an_outage() -> None:
    with (
        pytest.raises(Unavailable) as refused,
        open_arrow("postgresql+psycopg://user@127.0.0.1:1/nothing"),
    ):
        pass
    assert is_outage(refused.value)


def test_a_full_disk_is_told_as_one(disk: Path) -> None:
    """It was "the warehouse does not answer", for a member "try again in a moment"."""
    engine = open_engine(f"sqlite:///{disk / 'w.db'}")
    statement = text("CREATE TABLE t AS SELECT randomblob(30000000) AS x")
    with pytest.raises(DBAPIError) as refused, engine.begin() as connection:
        connection.execute(statement)
    engine.dispose()
    assert is_outage(refused.value)
    assert unanswered(refused.value).startswith("the disk of the warehouse is full (")


def test_a_file_that_is_no_database_is_an_outage(tmp_path: Path) -> None:
    file = tmp_path / "warehouse.db"
    file.write_bytes(b"no database" * 1000)
    with (
        pytest.raises(Exception, match="not a database") as refused,
        open_arrow(f"sqlite:///{file}"),
    ):
        pass
    assert is_outage(refused.value)


def test_a_full_database_is_an_outage(sqlite_url: str) -> None:
    with open_arrow(sqlite_url) as connection:
        connection.rollback()
        connection.execute("PRAGMA max_page_count = 1")
        with pytest.raises(adbc_driver_manager.Error) as refused:
            connection.execute("INSERT INTO reject (text) VALUES (CAST(zeroblob(9000000) AS TEXT))")
    assert is_outage(refused.value)
    # It still answers who only reads, and yet no batch is to blame.
    assert not may_be_of_rows(refused.value)


def test_a_transaction_that_the_database_ended_is_an_outage(sqlite_url: str) -> None:
    """As SQLite does where the disk is full."""
    with open_arrow(sqlite_url) as connection:
        connection.execute("INSERT INTO shop (shop_key, shop_id) VALUES (1, 'a')")
        connection.execute("ROLLBACK")
        with pytest.raises(adbc_driver_manager.Error, match="cannot commit") as refused:
            connection.commit()
    assert is_outage(refused.value)


def test_a_full_disk_of_postgresql_is_named_where_the_driver_makes_a_table(
    postgres_url: str,
) -> None:
    """The driver passes on the server's words without their code. A trigger says what a server without
    space says."""
    engine = open_engine(postgres_url)
    with engine.begin() as connection:
        connection.execute(text(_NO_SPACE))
        connection.execute(
            text(
                "CREATE EVENT TRIGGER full_disk ON ddl_command_start "
                "WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION full_disk()"
            )
        )
    try:
        with (
            open_arrow(postgres_url, wait_for_locks=False) as connection,
            pytest.raises(adbc_driver_manager.Error) as refused,
        ):
            connection.stage("import_row", pa.table({"place": [1]}))
    finally:
        with engine.begin() as connection:
            connection.execute(text("DROP EVENT TRIGGER full_disk"))
            connection.execute(text("DROP FUNCTION full_disk"))
        engine.dispose()
    assert is_outage(refused.value)
    assert unanswered(refused.value).startswith("the disk of the warehouse is full (")


def test_a_transaction_that_another_overtook_is_a_collision(new_warehouse_url: NewUrl) -> None:
    url = new_warehouse_url()
    write = "UPDATE shop SET name = 'a' WHERE shop_id = 'a'"
    with open_arrow(url, wait_for_locks=False) as one, open_arrow(url) as other:
        one.execute("INSERT INTO shop (shop_key, shop_id) VALUES (1, 'a')")
        one.commit()
        if isinstance(one, PostgresConnection):
            one.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        one.value("SELECT COUNT(*) FROM shop")
        other.execute(write)
        other.commit()
        with pytest.raises(adbc_driver_manager.Error) as refused:
            one.execute(write)
    assert is_collision(refused.value)
    assert is_outage(refused.value)


@pytest.mark.parametrize("error", [OSError("disk"), MemoryError()])
def test_trouble_of_the_machine_is_an_outage_unless_the_warehouse_answers(
    error: Exception,
) -> None:
    assert is_outage(error)
    assert may_be_of_rows(error)


def test_a_defect_is_one_line_with_the_lines_of_the_program() -> None:
    with pytest.raises(Exception) as raised, open_arrow("no\nURL"):
        pass
    line = defect(raised.value)
    assert line.startswith("a defect of this program, please report it: ArgumentError: ")
    assert "(warehouse/connections/engine.py:" in line
    assert "\n" not in line

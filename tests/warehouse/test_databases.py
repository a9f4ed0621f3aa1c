"""The databases that the tests are given: new, and reached by both ways in."""

import os
import signal
import subprocess
import sys
import uuid

import adbc_driver_postgresql.dbapi
import adbc_driver_sqlite.dbapi
import psutil
import pyarrow as pa
import pytest
from sqlalchemy import create_engine, inspect, make_url, text

from tests.conftest import NewUrl
from tests.support import postgres
from tests.support.waiting import wait_until


@pytest.fixture
def migrated() -> bool:
    return False


def test_a_database_is_empty_and_each_is_another(new_warehouse_url: NewUrl) -> None:
    first, second = create_engine(new_warehouse_url()), create_engine(new_warehouse_url())
    with first.begin() as connection:
        connection.execute(text("CREATE TABLE t (a INTEGER)"))
    assert inspect(second).get_table_names() == []
    assert inspect(first).get_table_names() == ["t"]
    first.dispose()
    second.dispose()


def test_columns_written_over_adbc_are_read_over_sqlalchemy(warehouse_url: str) -> None:
    url = make_url(warehouse_url)
    if url.get_backend_name() == "sqlite":
        connection = adbc_driver_sqlite.dbapi.connect(url.database or "")
    else:
        connection = adbc_driver_postgresql.dbapi.connect(warehouse_url.replace("+psycopg", "", 1))
    with connection, connection.cursor() as cursor:
        cursor.adbc_ingest("test_rows", pa.table({"a": [1, 2]}), mode="create")
        connection.commit()
    engine = create_engine(url)
    with engine.connect() as reader:
        assert reader.execute(text("SELECT a FROM test_rows ORDER BY a")).scalars().all() == [1, 2]
    engine.dispose()


def test_a_lock_that_a_test_leaves_is_an_error_and_ends(postgres_url: str) -> None:
    engine = create_engine(postgres_url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE t (a INTEGER)"))
    left = engine.connect()
    left.execute(text("LOCK TABLE t"))
    with pytest.raises(postgres.StillLocked, match="LOCK TABLE t"):
        postgres.empty(postgres_url, "100ms")
    left.invalidate()
    postgres.empty(postgres_url)


def test_a_server_ends_with_its_run_however_that_ends() -> None:
    run = uuid.uuid4().hex
    start = f"""
from tests.support.postgres import server_url
server_url("{run}")
print("started", flush=True)
input()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", start], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        folder = postgres.folder_of(run)
        server = int((folder / "postmaster.pid").read_text().splitlines()[0])
        os.kill(process.pid, signal.SIGKILL)
    wait_until(lambda: not folder.exists())
    wait_until(lambda: not psutil.pid_exists(server))

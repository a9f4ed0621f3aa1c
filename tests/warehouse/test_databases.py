"""The databases that the tests are given: new, and reached by both ways in."""

import adbc_driver_postgresql.dbapi
import adbc_driver_sqlite.dbapi
import pyarrow as pa
import pytest
from sqlalchemy import create_engine, inspect, make_url, text

from tests.conftest import NewUrl


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
        cursor.adbc_ingest("t", pa.table({"a": [1, 2]}), mode="create")
        connection.commit()
    engine = create_engine(url)
    with engine.connect() as reader:
        assert reader.execute(text("SELECT a FROM t ORDER BY a")).scalars().all() == [1, 2]
    engine.dispose()

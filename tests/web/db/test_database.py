"""The connections of the API: one snapshot a request, and connections that die while they wait."""

from contextlib import ExitStack

import pytest
from sqlalchemy import select, text, update
from sqlalchemy.exc import ProgrammingError

from tests.support.shop_builder import ShopBuilder, writing
from warehouse.connections.engine import open_engine
from warehouse.tables import shop
from web.db.database import Database
from web.http.background_writes import BackgroundWrites
from web.limits.slots import SIGN_INS, WRITES

NAME = select(shop.c.name)


def test_a_request_sees_one_snapshot(warehouse_url: str) -> None:
    engine = open_engine(warehouse_url, pooled=True)
    ShopBuilder(engine)
    database = Database(warehouse_url)
    with database.read() as connection:
        assert connection.execute(NAME).scalar_one() == ""
        with writing(engine) as writer:
            writer.execute(update(shop).values(name="Another"))
        assert connection.execute(NAME).scalar_one() == ""
    with database.read() as connection:
        assert connection.execute(NAME).scalar_one() == "Another"
    database.close()
    engine.dispose()


def test_a_write_in_the_background_waits_for_no_request(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has a connection of its own: one that found none would be dropped."""
    monkeypatch.setattr("warehouse.connections.backend._POOL_SECONDS", 0.1)
    engine = open_engine(postgres_url)
    ShopBuilder(engine)
    database = Database(postgres_url)
    with ExitStack() as requests:
        for _ in range(WRITES + SIGN_INS):
            requests.enter_context(database.write()).execute(NAME)
        writes = BackgroundWrites(database)
        writes.write(lambda connection: connection.execute(update(shop).values(name="Written")))
        writes.settle()
        with engine.connect() as connection:
            assert connection.execute(NAME).scalar_one() == "Written"
        writes.stop()
    database.close()
    engine.dispose()


def test_a_write_that_fails_ends_no_other(
    sqlite_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The thread ended with any error but the database's: refused sign-ins left no trace any more."""
    engine = open_engine(sqlite_url)
    ShopBuilder(engine)
    database = Database(sqlite_url)
    writes = BackgroundWrites(database)
    writes.write(lambda _connection: dict[str, str]()["no key"])
    writes.write(lambda connection: connection.execute(text("no statement")))
    writes.write(lambda connection: connection.execute(update(shop).values(name="Written")))
    writes.settle()
    with engine.connect() as connection:
        assert connection.execute(NAME).scalar_one() == "Written"
    assert '"exception":"builtins.KeyError"' in capsys.readouterr().err
    writes.stop()
    database.close()
    engine.dispose()


def test_a_snapshot_only_reads(postgres_url: str) -> None:
    database = Database(postgres_url)
    with database.read() as connection, pytest.raises(Exception, match="read-only transaction"):
        connection.execute(update(shop).values(name="x"))
    database.close()


def test_what_was_prepared_stays_so(postgres_url: str) -> None:
    """The driver prepares what it is asked again and again; without that the server plans it anew."""
    database = Database(postgres_url)
    for _ in range(10):
        connection = database.read()
        connection.execute(NAME)
        database.release(connection)
    with database.read() as connection:
        prepared = text("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%shop%'")
        assert connection.execute(prepared).scalar_one() == 1
    with pytest.raises(ProgrammingError), database.read() as connection:
        connection.execute(text("SELECT nothing FROM shop"))
    with database.read() as connection:
        assert connection.execute(NAME).all() == []
    database.close()


def test_connections_that_died_are_replaced(postgres_url: str) -> None:
    engine = open_engine(postgres_url)
    database = Database(postgres_url)
    for _ in range(2):
        with database.read() as one, database.read() as other, database.write() as writer:
            for connection in (one, other, writer):
                connection.execute(NAME)
        with engine.connect() as connection:
            connection.execute(
                text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            )
    with database.read() as connection:
        assert connection.execute(NAME).all() == []
    with database.write() as connection:
        connection.execute(update(shop).values(name="x"))
        connection.commit()
    database.close()

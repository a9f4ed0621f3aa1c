"""The connections of the API: one snapshot a request, and connections that die while they wait."""

import pytest
from sqlalchemy import bindparam, select, text, update
from sqlalchemy.exc import DBAPIError, ProgrammingError

from tests.web.builders import ShopBuilder, writing
from warehouse.engine import open_engine
from warehouse.migrate import migrate
from warehouse.schema import shop
from web.database import Database

NAME = select(shop.c.name)


def test_a_request_sees_one_snapshot(warehouse_url: str) -> None:
    engine = open_engine(warehouse_url, pooled=True)
    migrate(engine)
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


def test_a_kept_statement_sees_the_newest(warehouse_url: str) -> None:
    engine = open_engine(warehouse_url, pooled=True)
    migrate(engine)
    database = Database(warehouse_url)
    kept = database.keep(NAME.where(shop.c.shop_id == bindparam("shop_id")))
    known = {"shop_id": ShopBuilder(engine).shop_id}
    for name in ("One", "Another"):
        with writing(engine) as writer:
            writer.execute(update(shop).values(name=name))
        assert kept.one(known) == (name,)
        assert kept.one({"shop_id": "unknown.example"}) is None
        # What is closed is opened again.
        database.close()
    database.close()
    engine.dispose()


def test_a_kept_statement_in_a_snapshot(warehouse_url: str) -> None:
    engine = open_engine(warehouse_url, pooled=True)
    migrate(engine)
    database = Database(warehouse_url)
    kept = database.keep(NAME.where(shop.c.shop_id == bindparam("shop_id")))
    known = {"shop_id": ShopBuilder(engine).shop_id}
    with database.read() as snapshot:
        assert kept.within(snapshot, known) == ("",)
        with writing(engine) as writer:
            writer.execute(update(shop).values(name="Another"))
        assert kept.within(snapshot, known) == ("",)
        assert kept.within(snapshot, {"shop_id": "unknown.example"}) is None
    with writing(engine) as writer:
        writer.execute(text("ALTER TABLE shop RENAME TO gone"))
    # As a failure of SQLAlchemy, by which all others know what it is.
    with pytest.raises(DBAPIError), database.read() as snapshot:
        kept.within(snapshot, known)
    database.close()
    engine.dispose()


def test_a_snapshot_only_reads(postgres_url: str) -> None:
    migrate(open_engine(postgres_url))
    database = Database(postgres_url)
    with database.read() as connection, pytest.raises(Exception, match="read-only transaction"):
        connection.execute(update(shop).values(name="x"))
    database.close()


def test_what_was_prepared_stays_so(postgres_url: str) -> None:
    """The driver prepares what it is asked again and again; without that the server plans it anew."""
    migrate(open_engine(postgres_url))
    database = Database(postgres_url)
    for _ in range(10):
        with database.read() as connection:
            connection.execute(NAME)
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
    migrate(engine)
    database = Database(postgres_url)
    kept = database.keep(NAME)
    for _ in range(2):
        assert kept.one({}) is None
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
    assert kept.one({}) is None
    with database.read() as connection:
        assert connection.execute(NAME).all() == []
    with database.write() as connection:
        connection.execute(update(shop).values(name="x"))
        connection.commit()
    database.close()

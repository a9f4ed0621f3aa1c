"""Statements that the driver carries out alone: rows and errors are those of SQLAlchemy."""

from typing import Any

import pytest
from sqlalchemy import bindparam, func, insert, select, text
from sqlalchemy.exc import DBAPIError

from tests.support.shop_builder import writing
from warehouse.catalogue import SUMMARY
from warehouse.connections.engine import open_engine
from warehouse.connections.errors import is_outage
from warehouse.connections.look_ups import read_rows
from warehouse.tables import DAILY, dim_text
from web.db.database import Database

_PACKED = DAILY["outcome"].c
_OF_EDITION = _PACKED.edition == bindparam("edition")
STATEMENTS: list[Any] = [
    select(_PACKED.form, _PACKED.packed_dims).where(_OF_EDITION),
    select(func.count(), func.sum(_PACKED.day), func.max(_PACKED.form)).where(_OF_EDITION),
    select(dim_text.c.text, dim_text.c.id).where(dim_text.c.text == bindparam("text")),
]


def test_rows_are_those_of_sqlalchemy(warehouse_url: str) -> None:
    engine = open_engine(warehouse_url)
    row = dict.fromkeys(SUMMARY["outcome"].key, 2**40) | {"part": 0, "packed_dims": b"\0\1"}
    with writing(engine) as connection:
        connection.execute(insert(DAILY["outcome"]), row)
        connection.execute(insert(dim_text), {"edition": 1, "id": 2, "text": "Größe :a %(b)s ?"})
    engine.dispose()
    database = Database(warehouse_url)
    connection = database.read()
    for statement in STATEMENTS:
        values = {"edition": 2**40, "text": "Größe :a %(b)s ?", "not in it": 1}
        found = read_rows(connection, statement, values)
        del values["not in it"]
        expected = connection.execute(statement, values).all()
        assert [tuple(map(type, one)) for one in found] == [
            tuple(map(type, one)) for one in expected
        ]
        assert [tuple(one) for one in found] == [tuple(one) for one in expected] != []
    database.release(connection)
    database.close()


@pytest.mark.parametrize("statement", ["SELECT nothing FROM shop", "SELECT * FROM shop WHERE"])
def test_an_error_is_that_of_sqlalchemy(warehouse_url: str, statement: str) -> None:
    database, errors = Database(warehouse_url), []
    for ask in (read_rows, lambda connection, *asked: connection.execute(*asked)):
        connection = database.read()
        with pytest.raises(DBAPIError) as raised:
            ask(connection, text(statement), {})
        errors.append(raised.value)
        database.release(connection)
    assert type(errors[0]) is type(errors[1])
    assert type(errors[0].orig) is type(errors[1].orig)
    assert not any(error.connection_invalidated or is_outage(error) for error in errors)
    database.close()


def test_a_connection_that_is_lost_is_not_used_again(postgres_url: str) -> None:
    database = Database(postgres_url)
    connection = database.read()
    with pytest.raises(DBAPIError) as raised:
        read_rows(connection, text("SELECT pg_terminate_backend(pg_backend_pid())"), {})
    assert raised.value.connection_invalidated
    assert is_outage(raised.value)
    database.release(connection)
    connection = database.read()
    assert read_rows(connection, text("SELECT 1"), {}) == [(1,)]
    database.release(connection)
    database.close()


def test_the_first_statement_opens_a_snapshot(warehouse_url: str) -> None:
    engine = open_engine(warehouse_url)
    with engine.connect() as connection:
        read_rows(connection, text("SELECT 1"), {})
        assert connection.in_transaction()
    engine.dispose()

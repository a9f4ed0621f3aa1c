"""A database that does not answer: requests end, and say so."""

import os
import signal
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager

import psutil
import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, make_url, select, text, update
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from tests.support.refusals import refused
from tests.support.shop_builder import ShopBuilder
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from warehouse.connections.engine import open_engine
from warehouse.operations import conditions
from warehouse.tables import shop
from web.app import close_app, create_app
from web.db.database import Database
from web.http.errors import is_unavailable
from web.http.services import services_of
from web.limits.slots import READS, SIGN_INS, WRITES

NAME = update(shop).values(name="x")


@pytest.fixture
def postgres_engine(postgres_url: str) -> Iterator[Engine]:
    engine = open_engine(postgres_url)
    yield engine
    engine.dispose()


@pytest.fixture
def postgres_client(postgres_url: str, postgres_engine: Engine) -> Iterator[FlaskClient]:
    app = create_app(postgres_url)
    yield app.test_client()
    close_app(app)


def test_readyz_says_what_was_found_last_where_looking_takes_too_long(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A monitor never learned what needs an operator on a busy machine."""
    engine = open_engine(sqlite_url)
    ShopBuilder(engine)
    engine.dispose()
    app, looks = create_app(sqlite_url), threading.Event()

    def find(*_given: object) -> list[conditions.Alert]:
        looks.wait(PATIENCE_SECONDS)
        return [conditions.Alert(conditions.BACKLOG, "a.example", "", 0)]

    monkeypatch.setattr(conditions, "find", find)
    health, client = services_of(app).health, app.test_client()
    health.look()
    assert client.get("/readyz").get_json()["needs"] is None
    looks.set()
    health.settle()
    looks.clear()
    assert client.get("/readyz").get_json()["needs"] == ["backlog"]
    looks.set()
    close_app(app)


def readyz(client: FlaskClient) -> int:
    return client.get("/readyz").status_code


def other_sessions(engine: Engine) -> list[int]:
    """The server's processes for all other connections to the database. Each look has a transaction of its
    own: within one, PostgreSQL shows what it showed at first."""
    others = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with engine.connect() as connection:
        return list(connection.execute(text(others)).scalars())


def until_ready(client: FlaskClient) -> None:
    wait_until(lambda: readyz(client) == 200)


def test_a_locked_table_is_a_503(postgres_url: str, postgres_engine: Engine) -> None:
    # The limit is the operator's: the API's own is three seconds.
    url = make_url(postgres_url).update_query_dict({"options": "-c lock_timeout=300ms"})
    app = create_app(url.render_as_string(hide_password=False))
    client = app.test_client()
    headers = {"Authorization": f"Bearer {ShopBuilder(postgres_engine).mint()}"}
    with postgres_engine.connect() as holder:
        holder.execute(text("LOCK TABLE shop IN ACCESS EXCLUSIVE MODE"))
        # The lock is held meanwhile: answers that waited for it would not come.
        answer = client.get("/v1/attribution", headers=headers)
        refused(answer, 503, "unavailable")
        assert answer.headers["Retry-After"] == "1"
        assert {readyz(client) for _ in range(3)} == {503}
        assert client.get("/healthz").status_code == 200
    assert client.get("/v1/attribution", headers=headers).status_code == 200
    until_ready(client)
    close_app(app)


def test_a_frozen_server_is_a_503_that_takes_two_threads(
    postgres_client: FlaskClient, postgres_engine: Engine
) -> None:
    until_ready(postgres_client)
    pids = other_sessions(postgres_engine)
    if not all(psutil.pid_exists(pid) for pid in pids):
        pytest.skip("the PostgreSQL server is on another machine")
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        assert {readyz(postgres_client) for _ in range(20)} == {503}
        assert [thread.name for thread in threading.enumerate()].count("probe") == 2
        assert postgres_client.get("/healthz").status_code == 200
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    until_ready(postgres_client)


def test_an_app_that_ends_leaves_no_session(postgres_url: str, postgres_engine: Engine) -> None:
    app = create_app(postgres_url)
    with postgres_engine.connect() as holder:
        holder.execute(text("LOCK TABLE shop IN ACCESS EXCLUSIVE MODE"))
        assert readyz(app.test_client()) == 503
        assert other_sessions(postgres_engine) != []
    close_app(app)
    wait_until(lambda: not other_sessions(postgres_engine))


def test_a_full_pool_is_answered(warehouse_url: str, engine: Engine) -> None:
    app = create_app(warehouse_url)
    database = app.extensions["formrevenue"].database
    with ExitStack() as held:
        for _ in range(READS + WRITES + SIGN_INS + 3):
            held.callback(database.release, database.read())
        with pytest.raises(SQLAlchemyError) as refused:
            database.read()
        assert is_unavailable(refused.value)
        assert readyz(app.test_client()) == 503
    until_ready(app.test_client())
    close_app(app)


def test_the_sessions_of_the_api_have_an_end(postgres_url: str) -> None:
    """The operator's own options, in the address, count."""
    url = make_url(postgres_url).update_query_dict({"options": "-c statement_timeout=7s"})
    given = {}
    for address in (postgres_url, url.render_as_string(hide_password=False)):
        database = Database(address)
        for kind in (database.read, database.write):
            with kind() as connection:
                given[address, kind.__name__] = [
                    connection.execute(text(f"SHOW {name}")).scalar_one()
                    for name in (
                        "statement_timeout",
                        "lock_timeout",
                        "idle_in_transaction_session_timeout",
                    )
                ]
        database.close()
    assert list(given.values()) == [["30s", "3s", "5min"]] * 2 + [["7s", "3s", "5min"]] * 2


@pytest.mark.parametrize(
    "option", ["statement_timeout=2s", "idle_in_transaction_session_timeout=2s"]
)
def test_what_the_server_ends_is_no_defect(
    postgres_url: str, postgres_engine: Engine, option: str
) -> None:
    url = make_url(postgres_url).update_query_dict({"options": f"-c {option}"})
    database = Database(url.render_as_string(hide_password=False))
    connection = database.read()
    if option.startswith("idle"):
        wait_until(lambda: not other_sessions(postgres_engine))
    with pytest.raises(DBAPIError) as ended:
        connection.execute(text("SELECT pg_sleep(3600)"))
    assert is_unavailable(ended.value)
    database.release(connection)
    with database.read() as connection:
        assert connection.execute(select(shop.c.name)).all() == []
    database.close()


def is_written(database: Database) -> bool:
    """Write; whether that was not refused."""
    try:
        with database.write() as connection:
            connection.execute(NAME)
            connection.commit()
    except SQLAlchemyError as refused:
        if is_unavailable(refused):
            return False
        raise
    return True


@contextmanager
def locked(sqlite_url: str) -> Iterator[None]:
    file = make_url(sqlite_url).database or ""
    with closing(sqlite3.connect(file, isolation_level=None)) as lock:
        lock.execute("BEGIN IMMEDIATE")
        yield
        lock.execute("ROLLBACK")


def test_two_writers_wait_for_the_lock_of_sqlite(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warehouse.connections.sqlite._API_BUSY_SECONDS", 3_600)
    database = Database(sqlite_url)
    with ThreadPoolExecutor(8) as writers:
        with locked(sqlite_url):
            asked = [writers.submit(is_written, database) for _ in range(8)]
            # The others are refused at once.
            wait_until(lambda: sum(one.done() for one in asked) == 6)
            with database.read() as connection:
                assert connection.execute(select(shop.c.name)).all() == []
        assert sum(one.result() for one in asked) == 2
    database.close()


def test_a_writer_does_not_wait_for_as_long_as_it_takes(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warehouse.connections.sqlite._API_BUSY_SECONDS", 1)
    database = Database(sqlite_url)
    with locked(sqlite_url):
        assert not is_written(database)
    assert is_written(database)
    database.close()


def test_jobs_wait_for_as_long_as_it_takes(sqlite_url: str) -> None:
    engine = open_engine(sqlite_url)
    with engine.connect() as connection:
        assert connection.execute(text("PRAGMA busy_timeout")).scalar_one() == 60_000
    engine.dispose()

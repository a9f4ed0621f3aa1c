"""The API behind a real pgbouncer in transaction mode: the same answers, and nothing that stays in a
session of the server, which the next client gets."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from time import monotonic
from urllib.parse import urlencode

import psycopg
import pytest
from sqlalchemy import URL, text

from jobs.importing.kinds import KINDS
from tests.conftest import WITHOUT_PGBOUNCER
from tests.support import pgbouncer
from tests.support.answers import questions_about
from tests.support.commands import run_web, start_job
from tests.support.product import Product
from tests.support.refusals import refused
from tests.support.serving import ask, served
from tests.support.shop_builder import ShopBuilder
from tests.support.worlds import world
from warehouse.connections.engine import open_engine
from web.app import close_app, create_app
from web.db.database import Database

CLIENTS = 16
# Seconds after which pgbouncer ends a client that waits for a connection to the server.
WAIT = 1
LEFT_IN_SESSIONS = """
SELECT name FROM pg_settings WHERE source = 'session' AND name NOT IN ('application_name')
UNION ALL SELECT name FROM pg_prepared_statements
"""

pytestmark = pytest.mark.skipif(
    pgbouncer.program() is None, reason=f"{WITHOUT_PGBOUNCER}it is not installed"
)


def plain(through: URL) -> str:
    return through.render_as_string(hide_password=False)


def for_api(through: URL) -> str:
    return plain(through.update_query_dict({"prepare_threshold": "None"}))


@pytest.fixture
def through(postgres_url: str) -> Iterator[URL]:
    with pgbouncer.pgbouncer(postgres_url, query_wait_timeout=WAIT) as url:
        yield url


def test_answers_are_the_same_for_many_clients_on_two_connections(
    postgres_url: str, through: URL
) -> None:
    given = world(1, size=24)
    product = Product(postgres_url)
    for kind in KINDS:
        product.load(kind, given.records[kind])
    product.rollup()
    questions = list(questions_about(given))
    expected = [product.get(path, query, shop)[1]["data"] for shop, path, query in questions]
    product.close()

    with served(for_api(through)) as (_, port), ThreadPoolExecutor(CLIENTS) as clients:

        def data(question: tuple[str, str, dict[str, str]]) -> object:
            shop, path, query = question
            status, body = ask(port, "GET", f"{path}?{urlencode(query)}", product.key(shop))
            assert status == 200, body
            return body["data"]

        assert list(clients.map(data, questions)) == expected
        # Its connections to the server are closed, each as soon as its transaction is over.
        pgbouncer.administer(through, "RECONNECT")
        assert list(clients.map(data, questions)) == expected
        servers = pgbouncer.administer(through, "SHOW SERVERS")
        assert 0 < len(servers) <= 2
        with ExitStack() as held:
            for _ in servers:
                session = held.enter_context(
                    psycopg.connect(plain(through.set(drivername="postgresql")))
                )
                assert session.execute(LEFT_IN_SESSIONS).fetchall() == []


def test_transactions_have_the_limits_of_the_api(postgres_url: str, through: URL) -> None:
    names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
    settings = ", ".join(f"current_setting('{name}')" for name in names)
    shown = text(f"SELECT {settings}")
    database = Database(for_api(through))
    for _ in range(2):
        for kind in (database.read, database.write):
            connection = kind()
            assert tuple(connection.execute(shown).one()) == ("30s", "3s", "5min")
            database.release(connection)
    with open_engine(for_api(through)).connect() as connection:
        assert tuple(connection.execute(shown).one()) == ("0", "0", "0")
    database.close()


def test_nothing_is_prepared(postgres_url: str, through: URL) -> None:
    database = Database(for_api(through))
    for _ in range(10):
        for kind in (database.read, database.write):
            connection = kind()
            connection.execute(text("SELECT count(*) FROM shop"))
            prepared = text("SELECT count(*) FROM pg_prepared_statements")
            assert connection.execute(prepared).scalar_one() == 0
            database.release(connection)
    database.close()


def test_a_full_pool_is_a_503(postgres_url: str, through: URL) -> None:
    headers = {"Authorization": f"Bearer {ShopBuilder(open_engine(postgres_url)).mint()}"}
    app = create_app(for_api(through))
    client = app.test_client()
    assert client.get("/v1/forms", headers=headers).status_code == 200
    with ExitStack() as held:
        for _ in range(2):
            session = held.enter_context(
                psycopg.connect(plain(through.set(drivername="postgresql")))
            )
            session.execute("BEGIN")
        began = monotonic()
        answer = client.get("/v1/forms", headers=headers)
        refused(answer, 503, "unavailable")
        assert answer.headers["Retry-After"] == "1"
        assert monotonic() - began < 10 * WAIT
    assert client.get("/v1/forms", headers=headers).status_code == 200
    close_app(app)


def test_who_needs_a_session_is_refused(postgres_url: str, through: URL) -> None:
    for url in (plain(through), for_api(through)):
        job = start_job(url, "rollup")
        assert job.wait() == 1
        said = job.errors
        assert said.startswith("Error: WAREHOUSE_URL names a pooler in transaction mode")
        assert said.count("\n") == 1
    said = start_job(plain(through), "backup", "never").finish(1)
    assert "WAREHOUSE_URL names a pooler in transaction mode" in said
    server = run_web(plain(through), "serve")
    assert server.status == 1
    assert "add prepare_threshold=None to its query" in server.errors
    listed = run_web(for_api(through), "keys", "list")
    assert (listed.status, listed.errors) == (0, "")


def test_a_pooler_in_session_mode_takes_jobs(postgres_url: str) -> None:
    with pgbouncer.pgbouncer(postgres_url, pool_mode="session", default_pool_size=8) as through:
        assert "Error" not in start_job(plain(through), "rollup").finish()

"""The sum of connections in jobs/README.md, counted; and a server that has none left.

A lock holds everything up at the place where it has the most connections open.
"""

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from sqlalchemy import URL, make_url

from tests.jobs.executors.conftest import make_shops
from tests.support.commands import start
from tests.support.connections import counted, own
from tests.support.dask_cluster import dask_cluster
from tests.support.job_commands import Commands
from tests.support.postgres import administer
from tests.support.refusals import refused
from tests.support.serving import WORKERS, ask, served
from tests.support.shop_builder import ShopBuilder
from warehouse.connections.engine import open_engine
from web.app import close_app, create_app

PER_API_PROCESS: Final = 38
# A run has its own, and its heartbeat's; a worker that it starts for a batch has two of its own.
PER_RUN: Final = 2
# A scheduler beside it gives its heartbeat, and looks for dropped files.
PER_JOB: Final = PER_RUN + 1
# More than the two processes take in at once.
CLIENTS: Final = 64


@contextmanager
def locked(url: str, table: str) -> Iterator[None]:
    """Nobody writes to a table during the block."""
    with own(url) as connection, connection.transaction():
        connection.execute(f"LOCK TABLE {table} IN SHARE MODE")
        yield


def test_the_api_keeps_to_its_share(postgres_url: str) -> None:
    engine = open_engine(postgres_url)
    keys = [ShopBuilder(engine, shop_id=f"shop-{number}.example").mint() for number in range(4)]
    engine.dispose()
    with counted(postgres_url) as counter, served(postgres_url) as (_, port):

        def create(number: int) -> int:
            key = keys[number % len(keys)]
            body = b'{"name": "x", "schema": {}}'
            sent = {"Content_Type": "application/json"}
            return ask(port, "POST", "/v1/forms", key, body, **sent)[0]

        with locked(postgres_url, "form"), ThreadPoolExecutor(CLIENTS) as clients:
            statuses = set(clients.map(create, range(CLIENTS)))
        assert 503 in statuses
        assert statuses <= {429, 503}
        # Requests read and write at the same time.
        assert WORKERS * PER_API_PROCESS / 3 < counter.most <= WORKERS * PER_API_PROCESS


def test_jobs_of_a_scheduler_keep_to_their_share(postgres_commands: Commands) -> None:
    postgres_commands.make_backlog()
    postgres_commands.one_batch_at_a_time()
    with counted(postgres_commands.url) as counter:
        with locked(postgres_commands.url, "edition_batch"):
            scheduler = postgres_commands.start("scheduler")
            counter.wait_for(PER_RUN)
            scheduler.terminate()
        scheduler.finish()
    # The scheduler's own lasts a moment at a time.
    assert PER_RUN <= counter.most <= PER_JOB


def test_processes_keep_to_their_share(postgres_commands: Commands) -> None:
    make_shops(postgres_commands)
    postgres_commands.one_batch_at_a_time()
    with counted(postgres_commands.url) as counter:
        with locked(postgres_commands.url, "edition_batch"):
            driver = postgres_commands.start("rollup", "--executor", "processes:2")
            counter.wait_for(3 * PER_RUN)
        driver.finish()
    assert counter.most <= 3 * (PER_RUN + 1)


@pytest.mark.deep
def test_a_dask_worker_keeps_to_its_share(postgres_commands: Commands, tmp_path: Path) -> None:
    make_shops(postgres_commands)
    postgres_commands.one_batch_at_a_time()
    with (
        dask_cluster(postgres_commands.url, tmp_path / "dask", workers=1) as cluster,
        counted(postgres_commands.url) as counter,
    ):
        with locked(postgres_commands.url, "edition_batch"):
            driver = postgres_commands.start("rollup", "--executor", cluster.address)
            counter.wait_for(2 * PER_RUN)
        driver.finish()
    assert counter.most <= 2 * (PER_RUN + 1)


@pytest.fixture
def few_connections(postgres_server: URL, postgres_url: str) -> Iterator[str]:
    """The database's URL for a role with one connection, which is taken."""
    role = f"few_{uuid.uuid4().hex}"
    administer(
        postgres_server,
        f"CREATE ROLE {role} LOGIN PASSWORD 'few' CONNECTION LIMIT 1 "
        "IN ROLE pg_read_all_data, pg_write_all_data",
    )
    url = make_url(postgres_url).set(username=role, password="few")
    try:
        with own(url.render_as_string(hide_password=False)):
            yield url.render_as_string(hide_password=False)
    finally:
        administer(postgres_server, f"DROP ROLE {role}")


def test_a_server_without_a_connection_left_says_so(
    few_connections: str, postgres_url: str
) -> None:
    for command in (("jobs", "rollup"), ("web", "keys", "list")):
        said = start(*command, settings={"WAREHOUSE_URL": few_connections}).finish(1)
        assert said.startswith("Error: the warehouse does not answer: ")
        assert "too many connections" in said
        assert "Raise the limit that it names" in said
        assert said.count("\n") == 1
    key = ShopBuilder(open_engine(postgres_url)).mint()
    app = create_app(few_connections)
    answer = app.test_client().get("/v1/forms", headers={"Authorization": f"Bearer {key}"})
    refused(answer, 503, "unavailable")
    close_app(app)

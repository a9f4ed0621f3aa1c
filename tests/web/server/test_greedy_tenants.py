"""One tenant asks for more than there is: the others are answered."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from sqlalchemy import Engine, make_url

from tests.support.serving import ask, served
from tests.support.shop_builder import ShopBuilder

BODY = '{"name": "x", "schema": {}}'
# Clients of one tenant: more than the threads of one worker.
CLIENTS = 20


def test_writers_that_wait_for_the_lock_leave_the_threads_to_readers(
    warehouse_url: str, engine: Engine, shop: ShopBuilder
) -> None:
    key, other = shop.mint(), ShopBuilder(engine, "another.example").mint()
    file = make_url(warehouse_url).database or ""

    def create(_: int) -> int:
        return ask(port, "POST", "/v1/forms", key, BODY, Content_Type="application/json")[0]

    with (
        served(warehouse_url) as (_, port),
        ThreadPoolExecutor(CLIENTS) as clients,
        closing(sqlite3.connect(file, isolation_level=None)) as holder,
    ):
        holder.execute("BEGIN IMMEDIATE")
        answers = [clients.submit(create, number) for number in range(CLIENTS)]
        rounds = 0
        while not all(answer.done() for answer in answers):
            # New connections: some of them reach either worker.
            for path in ("/v1/attribution", "/v1/forms", "/readyz", "/healthz") * 2:
                assert ask(port, "GET", path, other)[0] == 200
            rounds += not all(answer.done() for answer in answers)
        # Readers are answered while writers wait, not after them.
        assert rounds
        assert {answer.result() for answer in answers} <= {429, 503}
        holder.execute("ROLLBACK")
        assert create(0) == 201

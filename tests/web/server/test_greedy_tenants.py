"""One tenant asks for more than there is: the others are answered."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from time import monotonic

from sqlalchemy import Engine, make_url

from tests.support.serving import ask, served
from tests.support.shop_builder import ShopBuilder

BODY = '{"name": "x", "schema": {}}'
# Clients of one tenant: more than the threads of one worker.
CLIENTS = 20
# Seconds from an answer that comes to one that does not.
PATIENCE = 10


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
        began = monotonic()
        answers = [clients.submit(create, number) for number in range(CLIENTS)]
        while not all(answer.done() for answer in answers):
            for path in ("/v1/attribution", "/v1/forms", "/readyz", "/healthz"):
                asked = monotonic()
                assert ask(port, "GET", path, other)[0] == 200
                assert monotonic() - asked < PATIENCE / 2
        assert {answer.result() for answer in answers} <= {429, 503}
        assert monotonic() - began < 3 * PATIENCE
        holder.execute("ROLLBACK")
        assert create(0) == 201

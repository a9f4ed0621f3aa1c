"""The collector in operation: processes that are killed, and the way of an event into the figures."""

import http.client
import json
import random
import signal
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

import psutil
import pytest
from sqlalchemy import Engine

from jobs.landing import turns
from tests.support.commands import kill, run_web
from tests.support.import_files import FORM, event, form
from tests.support.product import Product
from tests.support.serving import await_workers, collected
from tests.support.shop_builder import ShopBuilder
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from tests.web.collector.conftest import new_write_key
from tests.web.collector.lines import files_of
from tests.web.collector.sending import NOW, call, send

SHOP = "a.example"


def send_until_answered(ports: list[int], key: str, calls: list[dict[str, Any]]) -> None:
    """As libraries do: the same calls again, until they are answered 200 at the present port."""
    while True:
        try:
            if send(ports[0], key, calls) == 200:
                return
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.01)


@pytest.fixture
def product(warehouse_url: str) -> Product:
    product = Product(warehouse_url)
    product.load("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    product.load("forms", [form()])
    return product


@pytest.fixture
def import_landed(
    product: Product, landing: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], None]:
    """Import what has landed, and roll up."""
    monkeypatch.setattr(turns, "_SETTLE_SECONDS", 0.01)
    monkeypatch.setenv("IMPORT_DIR", str(landing))

    def do() -> None:
        product._jobs("landing")
        product.rollup()

    return do


def created_key(url: str) -> str:
    created = run_web(url, "write-keys", "create", "--shop", SHOP)
    assert created.status == 0, created.errors
    return created.output.splitlines()[-1]


def test_each_answered_event_is_in_the_figures_once(
    product: Product, landing: Path, import_landed: Callable[[], None]
) -> None:
    key = created_key(product.url)
    numbers, ends, ports = count(), Event(), [0]
    chance, answered = random.Random(0), [0]

    def await_more(calls: int) -> None:
        """Until so many more calls are answered: however slow the machine is, clients are at work then."""
        until = answered[0] + calls
        wait_until(lambda: answered[0] >= until)

    def client() -> int:
        sent = 0
        while not ends.is_set():
            sessions = [f"s{next(numbers)}" for _ in range(5)]
            views = [call("Form Viewed", session) for session in sessions]
            send_until_answered(ports, key, views)
            # The answer was lost on its way, and the client sends them again.
            if chance.random() < 0.1:
                send_until_answered(ports, key, [*views, *views])
            send_until_answered(ports, key, [call("Form Subscribed", sessions[0])])
            sent += 1
            answered[0] += 1
        return sent

    with ThreadPoolExecutor(8) as clients:
        running = [clients.submit(client) for _ in range(8)]
        try:
            for turn in range(3):
                with collected(product.url, landing) as (server, ports[0]):
                    wait_until(lambda: send(ports[0], key, []) == 200)
                    await_more(chance.randrange(10, 40))
                    worker = psutil.Process(chance.choice(sorted(await_workers(server.pid))))
                    worker.kill()
                    worker.wait()
                    await_workers(server.pid)
                    await_more(chance.randrange(10, 40))
                    if turn == 2:
                        ends.set()
                        sent = sum(done.result(PATIENCE_SECONDS) for done in running)
                    kill(server.pid)
                    server.wait()
        finally:
            ends.set()
    assert files_of(landing, growing=True) != []
    # The next one takes up what all of them left, and ends by finishing its own.
    with collected(product.url, landing) as (server, port):
        wait_until(lambda: files_of(landing, growing=True) == [])
        wait_until(lambda: send(port, key, [call("Form Completed", "s0")]) == 200)
        server.send(signal.SIGTERM)
        assert server.wait(PATIENCE_SECONDS) == 0
    assert files_of(landing, growing=True) == []
    import_landed()
    status, answer = product.get(f"/v1/forms/{FORM}/funnel", {"range": "7d"}, SHOP)
    assert status == 200
    figures = answer["data"]
    assert sent > 50
    assert (figures["views"], figures["subscriptions"]) == (sent * 5, sent)
    assert (figures["completions"], figures["submissions"]) == (1, sent)


def test_a_torn_line_is_a_reject_and_the_others_count(
    product: Product, landing: Path, import_landed: Callable[[], None]
) -> None:
    place = landing / "events"
    place.mkdir(parents=True)
    row = event(shop_id=SHOP, form_id=FORM, occurred_at=NOW)
    whole = json.dumps(row)
    left = place / ".collected-20260101T000000Z-0123456789abcdef.ndjson"
    left.write_text(f"{whole}\n{whole[:70]}")
    with collected(product.url, landing):
        wait_until(lambda: files_of(landing))
    assert [path.name for path in files_of(landing)] == [left.name[1:]]
    import_landed()
    _, answer = product.get(f"/v1/forms/{FORM}/funnel", {"range": "7d"}, SHOP)
    assert answer["data"]["views"] == 1
    report = json.loads(next(place.glob("done/*.report.json")).read_text())
    assert (report["counts"]["read"], report["counts"]["rejected"]) == (2, 1)
    assert [reject["line"] for reject in report["rejects"]] == [2]


def test_it_starts_without_the_warehouse(
    tmp_path: Path, engine: Engine, warehouse_url: str, shop: ShopBuilder, landing: Path
) -> None:
    key = new_write_key(engine, shop.shop_id)
    engine.dispose()
    database = Path(warehouse_url.removeprefix("sqlite:///"))
    database.rename(tmp_path / "away.db")
    database.mkdir()
    with collected(warehouse_url, landing) as (server, port):
        assert send(port, key, [call("Form Viewed", "s1")]) == 503
        database.rmdir()
        (tmp_path / "away.db").rename(database)
        wait_until(lambda: send(port, key, [call("Form Viewed", "s1")]) == 200)
    said = [json.loads(line) for line in server.errors.splitlines() if line.startswith("{")]
    assert any("write keys cannot be read" in line["trouble"] for line in said)
    # The log has no line for each request, and so no address.
    assert "127.0.0.1" not in "".join(line["trouble"] for line in said)


def test_a_body_that_is_too_large_is_not_awaited(product: Product, landing: Path) -> None:
    key = created_key(product.url)
    with collected(product.url, landing) as (_, port):
        wait_until(lambda: send(port, key, []) == 200)
        with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as client:
            client.sendall(
                b"POST /v1/b HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
                b"Content-Length: 600000\r\n\r\n{"
            )
            assert client.recv(12) == b"HTTP/1.1 400"

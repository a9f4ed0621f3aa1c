"""Clients that are slow, on purpose or not, do not delay others."""

import http.client
import select
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest
from sqlalchemy import Engine
from urllib3 import PoolManager, Retry

from tests.conftest import NewUrl
from tests.support.serving import WORKERS, ask, served
from tests.support.shop_builder import ShopBuilder
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from warehouse.connections.engine import open_engine
from web.limits.connections import limit_unread

CLIENTS = 500
# Each has a few connections: one address has no more than a hundred.
ADDRESSES = [f"127.0.0.{number}" for number in range(2, 22)]
# Bodies that come before the first of them has taken too long.
BODIES = 60
# No slow client is disconnected: else the others could have waited for that.
UNLIMITED = {
    "web.limits.connections.BODY_SECONDS": 3_600,
    "web.server.wsgi_server._HEADERS_SECONDS": 3_600,
}
# Connections one after the other that reach both workers.
ENOUGH = 15
# Too many bodies, or too many requests of a shop.
REFUSED = (429, 503)
# The largest answer without a key: half a megabyte.
LARGEST = "/docs/viewer/swagger-ui-bundle.js"
# A megabyte and a half.
LONG = "/v1/attribution/daily?range=2017-01-01..2026-01-01"
JSON = {"Content_Type": "application/json"}
BODY = b'{"name": "x", "schema": {}}'


@pytest.fixture(scope="module")
def url(new_shared_url: NewUrl) -> str:
    return new_shared_url()


@pytest.fixture(scope="module")
def port(url: str) -> Iterator[int]:
    with served(url, values=UNLIMITED) as (_, port):
        yield port


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    engine = open_engine(url)
    yield engine
    engine.dispose()


@contextmanager
def slow_clients(port: int, sent: bytes, count: int = CLIENTS) -> Iterator[list[socket.socket]]:
    """Clients that have sent this much, and neither go on nor read."""
    with ExitStack() as opened:
        clients = []
        for number in range(count):
            client = opened.enter_context(socket.socket())
            client.settimeout(PATIENCE_SECONDS)
            # The bytes that the client's system takes for it.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.bind((ADDRESSES[number % len(ADDRESSES)], 0))
            client.connect(("127.0.0.1", port))
            client.sendall(sent)
            clients.append(client)
        yield clients


def asked(path: str, key: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n".encode()


def half_body(path: str, kind: str, key: str) -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: 1000\r\n"
        f"Authorization: Bearer {key}\r\n\r\n{{"
    ).encode()


def test_slow_clients_delay_nobody(port: int, engine: Engine) -> None:
    key, other = (ShopBuilder(engine, name).mint() for name in ("slow.example", "other.example"))
    api, form = "application/json", "application/x-www-form-urlencoded"
    for sent, is_silent, may_write in (
        (b"", True, True),
        (b"GET /v1/forms HTTP/1.1\r\nHost: x\r\nAccept", True, True),
        (half_body("/v1/forms", api, "none"), False, True),
        (half_body("/settings/sign-in", form, "none"), False, True),
        (asked(LARGEST, key) * 4, False, True),
        (asked(LONG, key) * 2, False, True),
        (half_body("/v1/forms", api, key), False, False),
    ):
        with slow_clients(port, sent) as clients:
            for _ in range(ENOUGH):
                assert served_status(port, "GET", other) == 200, sent
            if is_silent:
                # The server ends such a connection after some seconds: others do not wait for that.
                assert answered(clients) == set(), sent
            # All of them are answered first, as far as they are.
            await_status(port, key, (201,) if may_write else REFUSED)
            # Nobody takes the turns of another shop.
            for _ in range(ENOUGH):
                assert served_status(port, "POST", other) == 201, sent
    await_status(port, key, (201,))


class AgainWhenBusy(Retry):
    """Asks again where a busy server says when to. A 429 is an answer: it would be for others' requests."""

    RETRY_AFTER_STATUS_CODES = frozenset({503})


def served_status(port: int, method: str, key: str) -> int:
    """The status of the answer to a read or a body, by a new connection: some of them reach either worker."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    again = AgainWhenBusy(PATIENCE_SECONDS, allowed_methods=None)
    with PoolManager(headers=headers, retries=again, timeout=PATIENCE_SECONDS) as pool:
        body = BODY if method == "POST" else None
        return pool.request(method, f"http://127.0.0.1:{port}/v1/forms", body=body).status


def await_status(port: int, key: str, expected: tuple[int, ...]) -> None:
    wait_until(lambda: created(port, key) in expected)


def created(port: int, key: str) -> int:
    """The status of the answer to a body."""
    return ask(port, "POST", "/v1/forms", key, BODY, **JSON)[0]


def test_who_does_not_read_is_disconnected() -> None:
    """Only that: who reads slowly, or is silent because there is nothing to read, stays."""
    with socket.create_server(("127.0.0.1", 0)) as server, ExitStack() as opened:
        limit_unread(server, 1)
        clients = []
        for _ in range(3):
            client = opened.enter_context(socket.create_connection(server.getsockname()))
            clients.append((client, opened.enter_context(server.accept()[0])))
        (_, unread), (reader, read), (_, silent) = clients
        for connection in (unread, read):
            connection.setblocking(False)

        def send_to_both() -> None:
            deadline = time.monotonic() + PATIENCE_SECONDS
            while time.monotonic() < deadline:
                for connection in (read, unread):
                    with suppress(BlockingIOError):
                        connection.send(bytes(100_000))
                reader.recv(1_000_000)

        with pytest.raises(TimeoutError):
            send_to_both()
        with suppress(BlockingIOError):
            read.send(b"more")
        assert silent.send(b"hello")


def test_bodies_are_read_in_turns(port: int, engine: Engine) -> None:
    key = ShopBuilder(engine, "turns.example").mint()
    with slow_clients(port, half_body("/v1/forms", "application/json", "none")) as clients:
        for client in clients:
            # Without a key nothing is read; a server that is busy says 503.
            assert int(client.recv(65_536).split()[1]) in (401, *REFUSED)
    with slow_clients(port, half_body("/v1/forms", "application/json", key), BODIES) as clients:
        # Half of the turns of each process are for one shop.
        served = 12 * WORKERS
        wait_until(lambda: len(answered(clients)) >= BODIES - served)
        refused = answered(clients)
        for client in clients:
            if client.fileno() in refused:
                assert int(client.recv(65_536).split()[1]) in REFUSED
        assert says_when_to_try_again(port, key)
        waiting = [client for client in clients if client.fileno() not in refused]
        assert len(waiting) == served
        for client in waiting:
            client.sendall(b" " * 999)
            assert client.recv(65_536).startswith(b"HTTP/1.1 400 ")


def answered(clients: list[socket.socket]) -> set[int]:
    """The descriptors of those that have an answer."""
    poll = select.poll()
    for client in clients:
        poll.register(client, select.POLLIN)
    return {descriptor for descriptor, _ in poll.poll(100)}


def says_when_to_try_again(port: int, key: str) -> bool:
    """Whether one more body is refused as it should be, before any of it is sent."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    connection.putrequest("POST", "/v1/forms")
    connection.putheader("Authorization", f"Bearer {key}")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", "10")
    connection.endheaders()
    answer = connection.getresponse()
    assert b'"error"' in answer.read()
    connection.close()
    return answer.status in REFUSED and answer.getheader("Retry-After") == "1"

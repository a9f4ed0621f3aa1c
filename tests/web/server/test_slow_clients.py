"""Clients that are slow, on purpose or not, do not delay others."""

import http.client
import select
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest
from sqlalchemy import Engine

from tests.support.serving import WORKERS, ask, served
from tests.support.shop_builder import ShopBuilder
from web.server.unread_answers import end_unread_connections

CLIENTS = 500
# Too many bodies, or too many requests of a shop.
REFUSED = (429, 503)
# The largest answer without a key: half a megabyte.
LARGEST = "/docs/viewer/swagger-ui-bundle.js"
# A megabyte and a half.
LONG = "/v1/attribution/daily?range=2017-01-01..2026-01-01"
JSON = {"Content_Type": "application/json"}
BODY = b'{"name": "x", "schema": {}}'


@pytest.fixture
def port(warehouse_url: str, engine: Engine) -> Iterator[int]:
    with served(warehouse_url) as (_, port):
        yield port


@contextmanager
def slow_clients(port: int, sent: bytes) -> Iterator[list[socket.socket]]:
    """Clients that have sent this much, and neither go on nor read."""
    with ExitStack() as opened:
        clients = []
        for _ in range(CLIENTS):
            client = opened.enter_context(socket.socket())
            client.settimeout(30)
            # The bytes that the client's system takes for it.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
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


def milliseconds(port: int, key: str) -> float:
    """The median time of an answer on a new connection."""
    times = []
    for _ in range(15):
        began = time.perf_counter()
        assert ask(port, "GET", "/v1/forms", key)[0] == 200
        times.append((time.perf_counter() - began) * 1000)
    return sorted(times)[7]


def test_slow_clients_delay_nobody(port: int, engine: Engine, shop: ShopBuilder) -> None:
    key, other = shop.mint(), ShopBuilder(engine, "other.myshopify.com").mint()
    calm = milliseconds(port, other)
    api, form = "application/json", "application/x-www-form-urlencoded"
    for sent, may_write in (
        (b"", True),
        (b"GET /v1/forms HTTP/1.1\r\nHost: x\r\nAccept", True),
        (half_body("/v1/forms", api, "none"), True),
        (half_body("/settings/sign-in", form, "none"), True),
        (asked(LARGEST, key) * 4, True),
        (asked(LONG, key) * 2, True),
        (half_body("/v1/forms", api, key), False),
    ):
        with slow_clients(port, sent):
            # All of them are answered first: what they asked for takes a second or two to compute.
            deadline = time.monotonic() + 20
            while milliseconds(port, other) > 3 * calm + 20:
                assert time.monotonic() < deadline, sent
            status = ask(port, "POST", "/v1/forms", key, BODY, **JSON)[0]
            assert status in ((201,) if may_write else REFUSED), sent
            # Nobody takes the turns of another shop.
            assert ask(port, "POST", "/v1/forms", other, BODY, **JSON)[0] == 201, sent
    assert ask(port, "POST", "/v1/forms", key, BODY, **JSON)[0] == 201


def test_who_does_not_read_is_disconnected() -> None:
    """Only that: who reads slowly, or is silent because there is nothing to read, stays."""
    with socket.create_server(("127.0.0.1", 0)) as server, ExitStack() as opened:
        end_unread_connections(1)
        clients = []
        for _ in range(3):
            client = opened.enter_context(socket.create_connection(server.getsockname()))
            clients.append((client, opened.enter_context(server.accept()[0])))
        (_, unread), (reader, read), (_, silent) = clients
        for connection in (unread, read):
            connection.setblocking(False)

        def send_to_both() -> None:
            deadline = time.monotonic() + 20
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


def test_bodies_are_read_in_turns(port: int, shop: ShopBuilder) -> None:
    key = shop.mint()
    with slow_clients(port, half_body("/v1/forms", "application/json", "none")) as clients:
        for client in clients:
            # Without a key nothing is read.
            assert client.recv(65_536)[:12] in (b"HTTP/1.1 401", b"HTTP/1.1 429")
    with slow_clients(port, half_body("/v1/forms", "application/json", key)) as clients:
        # Half of the turns of each process are for one shop.
        served = 3 * WORKERS
        deadline = time.monotonic() + 20
        while len(refused := answered(clients)) < CLIENTS - served:
            assert time.monotonic() < deadline
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
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.putrequest("POST", "/v1/forms")
    connection.putheader("Authorization", f"Bearer {key}")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", "10")
    connection.endheaders()
    answer = connection.getresponse()
    assert b'"error"' in answer.read()
    connection.close()
    return answer.status in REFUSED and answer.getheader("Retry-After") == "1"

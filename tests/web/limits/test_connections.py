"""Connections that granian would keep and a process ends: too many of one address, bodies that never
end, heads that are never ended when the server stops."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from ipaddress import ip_network
from pathlib import Path

import pytest
from sqlalchemy import Engine

from tests.support.serving import WORKERS, ask, collected, served
from tests.support.shop_builder import ShopBuilder
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from web.limits.connections import PER_NETWORK, Connections

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


def connected(opened: ExitStack, port: int, address: str = "127.0.0.1") -> socket.socket:
    """A connection from an address of the loopback interface."""
    client = opened.enter_context(socket.socket())
    client.settimeout(PATIENCE_SECONDS)
    client.bind((address, 0))
    client.connect(("127.0.0.1", port))
    return client


def has_ended(connection: socket.socket) -> bool:
    """Whether nothing more comes by a connection by which nothing has come."""
    connection.setblocking(False)
    with suppress(BlockingIOError):
        return connection.recv(1, socket.MSG_PEEK) == b""
    return False


@contextmanager
def accepted(
    count: int, address: str = "127.0.0.1"
) -> Iterator[tuple[socket.socket, list[socket.socket]]]:
    """A socket that listens in this process, and connections that it has accepted."""
    with socket.create_server(("127.0.0.1", 0), backlog=count) as listener, ExitStack() as opened:
        connections = []
        for _ in range(count):
            connected(opened, listener.getsockname()[1], address)
            connections.append(opened.enter_context(listener.accept()[0]))
        yield listener, connections


def test_an_address_has_so_many_connections() -> None:
    connections = Connections()
    with accepted(PER_NETWORK + 20) as (_, all_of_them):
        connections._look()
        ended = [has_ended(connection) for connection in all_of_them]
        assert ended == [False] * PER_NETWORK + [True] * 20


def test_a_proxy_has_any_number() -> None:
    connections = Connections([ip_network("127.0.0.9/32")])
    with accepted(PER_NETWORK + 20, "127.0.0.9") as (_, all_of_them):
        connections._look()
        assert not any(has_ended(connection) for connection in all_of_them)


def test_connections_without_a_request_end_with_the_server() -> None:
    connections = Connections()
    with accepted(2) as (listener, (silent, unread)):
        unread.setblocking(False)
        with suppress(BlockingIOError):
            while True:
                unread.send(bytes(100_000))
        connections._look()

        def ends() -> bool:
            connections._look()
            return has_ended(silent)

        connections.begin(request := object())
        listener.close()
        assert not ends()
        connections.end(request)
        wait_until(ends)
        assert not has_ended(unread)


def test_an_address_that_holds_connections_shuts_nobody_out(
    warehouse_url: str, engine: Engine, shop: ShopBuilder
) -> None:
    key = shop.mint()
    with served(warehouse_url) as (_, port), ExitStack() as opened:
        held = [connected(opened, port, "127.0.0.2") for _ in range(5 * PER_NETWORK)]
        for _ in range(20):
            assert ask(port, "GET", "/v1/forms", key)[0] == 200
        wait_until(lambda: sum(not has_ended(client) for client in held) <= WORKERS * PER_NETWORK)
        # The oldest stay, and are served.
        for client in held[:PER_NETWORK]:
            client.settimeout(PATIENCE_SECONDS)
            client.sendall(HEALTH)
            assert client.recv(65_536).startswith(b"HTTP/1.1 200 ")


def test_a_body_that_never_ends_is_ended(
    warehouse_url: str, engine: Engine, shop: ShopBuilder, tmp_path: Path
) -> None:
    """On each port; where a byte comes now and then, too."""
    key = shop.mint()

    def half(path: str, kind: str) -> bytes:
        return (
            f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
            f"Content-Type: {kind}\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n{{"
        ).encode()

    json, form = "application/json", "application/x-www-form-urlencoded"
    soon = {"web.limits.connections.BODY_SECONDS": 2}
    with (
        served(warehouse_url, values=soon) as (_, port),
        collected(warehouse_url, tmp_path, values=soon) as (_, collector),
        ExitStack() as opened,
    ):
        wait_until(lambda: ask(collector, "GET", "/readyz")[0] == 200)
        clients = []
        for at, request in (
            (port, half("/v1/forms", json)),
            (port, half("/settings/sign-in", form)),
            (collector, half("/v1/track", json)),
        ):
            clients.append(connected(opened, at))
            clients[-1].sendall(request)
            assert clients[-1].recv(65_536).startswith(b"HTTP/1.1 100 ")
        for client in clients:
            client.settimeout(0.5)
            answer = b""
            while not answer:
                client.sendall(b" ")
                with suppress(TimeoutError):
                    answer = client.recv(65_536)
            assert answer.startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("is_chunked", [False, True])
def test_an_answer_before_the_end_of_a_body_ends_the_connection(
    warehouse_url: str, engine: Engine, shop: ShopBuilder, is_chunked: bool
) -> None:
    """A proxy would send the next client's request by it."""
    body = b'{"name": "Form", "schema": {}}'
    how = b"Transfer-Encoding: chunked" if is_chunked else b"Content-Length: %d" % len(body)
    sent = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if is_chunked else body

    def request(key: str) -> bytes:
        head = f"POST /v1/forms HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
        return b"%bContent-Type: application/json\r\n%b\r\n\r\n%b" % (head.encode(), how, sent)

    with served(warehouse_url) as (_, port), ExitStack() as opened:
        client = connected(opened, port)
        for key, status, is_last in ((shop.mint(), 201, False), ("none", 401, True)):
            client.sendall(request(key))
            head = client.recv(65_536).partition(b"\r\n\r\n")[0].lower()
            assert head.startswith(b"http/1.1 %d " % status)
            assert (b"\r\nconnection: close" in head) == is_last


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX"])
def test_sigterm_beside_heads_that_never_end(
    warehouse_url: str, engine: Engine, sent: bytes
) -> None:
    with served(warehouse_url) as (process, port), ExitStack() as opened:
        for number in range(150):
            connected(opened, port, f"127.0.0.{number // 50 + 2}").sendall(sent)
        assert ask(port, "GET", "/healthz")[0] == 200
        process.terminate()
        assert process.wait() == 0

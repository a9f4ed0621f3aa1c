"""The server in operation, with two workers: what they share, their metrics, their end."""

import http.client
import re
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack

import psutil
import pytest
from click.testing import CliRunner
from sqlalchemy import Engine

from tests.support.serving import WORKERS, await_workers, free_port, served
from tests.support.shop_builder import ShopBuilder
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from web.cli import main

Headers = dict[str, str]


def answered(port: int, path: str, key: str = "", method: str = "GET") -> tuple[int, Headers, str]:
    """Status, headers (names in lower case) and body of an answer on a connection of its own, so of
    either worker."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    connection.request(method, path, headers={"Authorization": f"Bearer {key}"} if key else {})
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    headers = {name.lower(): value for name, value in answer.getheaders()}
    return answer.status, headers, body


A_WORKER = """
import gc
from web.app import create_app
from web.server.wsgi_server import watched
app = watched(create_app("sqlite://"))
print(len(gc.get_objects()))
looked_at_all = []
gc.callbacks.append(lambda phase, found: looked_at_all.append(found["generation"] == 2))
answer = [{"value": str(number), "horizons": [{"days": 30}]} for number in range(100_000)]
print(sum(looked_at_all))
"""


def test_garbage_is_not_looked_for_among_all_that_is_loaded() -> None:
    """A hundred thousand objects, which a process would stop for: neither at the start, nor for an answer."""
    worker = subprocess.run([sys.executable, "-c", A_WORKER], capture_output=True, text=True)
    loaded, looked_at_all = map(int, worker.stdout.split())
    assert (loaded < 10_000, looked_at_all) == (True, 0), worker.stderr


def accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return False
    return True


def head_says_what_get_says(port: int, path: str, key: str) -> bool:
    status, headers, body = answered(port, path, key)
    of_head = answered(port, path, key, "HEAD")
    for name in ("date", "x-request-id", "ratelimit"):
        headers.pop(name, None)
        of_head[1].pop(name, None)
    has_length = headers["content-length"] == str(len(body.encode()))
    return has_length and of_head == (status, headers, "")


def test_what_the_workers_share(warehouse_url: str, engine: Engine, shop: ShopBuilder) -> None:
    key = shop.mint()
    metrics = free_port()
    # An allowance that does not come back while the test runs.
    settings = {"METRICS_PORT": str(metrics), "RATE_LIMIT": "1000/86400"}

    def requests(path: str, status: int) -> int:
        said = answered(metrics, "/metrics")[2]
        labels = f'method="GET",path="{path}",status="{status}"'
        found = re.search(rf"^formrevenue_http_requests_total{{{labels}}} (\d+)", said, re.M)
        return int(found[1]) if found else 0

    with served(warehouse_url, settings) as (process, port):
        left = [answered(port, "/v1/forms", key)[1]["ratelimit"] for _ in range(20)]
        assert [text.partition(";t=")[0] for text in left] == [
            f'"default";r={number}' for number in range(999, 979, -1)
        ]
        assert requests("/v1/forms", 200) == 20
        # A worker that dies takes nothing of it along.
        killed = psutil.Process(min(await_workers(process.pid)))
        killed.kill()
        killed.wait()
        await_workers(process.pid)
        for _ in range(4):
            answered(port, "/v1/forms", key)
        assert requests("/v1/forms", 200) == 24
        assert answered(port, "/v1/forms", key)[1]["ratelimit"].startswith('"default";r=975;')
        for path in ("/v1/forms", "/v1/attribution?format=csv", "/v1/unknown", "/healthz"):
            assert head_says_what_get_says(port, path, key), path
        # Each port has its own.
        assert answered(port, "/metrics")[0] == 404
        assert "formrevenue_warehouse_up 1.0" in answered(metrics, "/v1/forms", key)[2]
        failures: list[int] = []
        while len(failures) < 1_000 and 429 not in failures:
            failures.append(answered(port, "/v1/forms")[0])
        assert set(failures) == {401, 429}
        assert failures.count(401) >= 120
        assert answered(port, "/v1/forms", key)[0] == 200
        assert requests("/v1/forms", 429) == 1


def test_a_connection_takes_one_request_after_another(
    warehouse_url: str, engine: Engine, shop: ShopBuilder
) -> None:
    request = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    with served(warehouse_url) as (_, port), ExitStack() as opened:
        clients = [
            opened.enter_context(
                socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)
            )
            for _ in range(40)
        ]
        # One by one, and several that do not wait for an answer.
        for together in (1, 1, 3, 1, 10, 1):
            for client in clients:
                client.sendall(request * together)
            for client in clients:
                answered = b""
                while answered.count(b'{"status":"ok"}') < together:
                    part = client.recv(65_536)
                    assert part
                    answered += part
                assert answered.count(b"HTTP/1.1 200 ") == together


def test_sigterm_answers_what_is_in_flight(
    warehouse_url: str, engine: Engine, shop: ShopBuilder
) -> None:
    key = shop.mint()
    body = b'{"name": "x", "schema": {}}'
    with served(warehouse_url) as (process, port), ExitStack() as opened:
        address = ("127.0.0.1", port)

        def client() -> socket.socket:
            return opened.enter_context(socket.create_connection(address, timeout=PATIENCE_SECONDS))

        for _ in range(30):
            client()
            client().sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX")
        idle = client()
        idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert idle.recv(65_536).startswith(b"HTTP/1.1 200 ")
        in_flight = client()
        in_flight.sendall(
            f"POST /v1/forms HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
            "Content-Type: application/json\r\nExpect: 100-continue\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
        )
        # The server says so when it begins to read the body.
        assert in_flight.recv(65_536).startswith(b"HTTP/1.1 100 ")
        in_flight.sendall(body[:10])
        process.send(signal.SIGTERM)
        wait_until(lambda: not accepts(port))
        in_flight.sendall(body[10:])
        answer = http.client.HTTPResponse(in_flight)
        answer.begin()
        assert (answer.status, bool(answer.read())) == (201, True)
        assert process.wait() == 0


def test_no_process_outlives_a_server_that_is_killed(warehouse_url: str, engine: Engine) -> None:
    """It would hold the port, so that no server could start in its place."""
    with served(warehouse_url) as (process, _):
        children = psutil.Process(process.pid).children(recursive=True)
        assert len(children) >= WORKERS
        process.kill()
        process.wait()
        _, alive = psutil.wait_procs(children, timeout=PATIENCE_SECONDS)
        assert alive == []


def test_a_port_in_use_is_one_line(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAREHOUSE_URL", sqlite_url)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = CliRunner().invoke(main, ["serve", "--port", str(port)])
    assert refused.exit_code == 1
    assert refused.output == (f"Error: cannot listen on 127.0.0.1:{port}: Address already in use\n")

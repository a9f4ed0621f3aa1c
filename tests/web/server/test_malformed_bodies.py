"""Bodies whose framing is wrong, or that end early: what is refused is a 400, and the server goes on.

The server takes a chunked body that breaks off for one that ends there. So what was cut is refused for
what is missing in it.
"""

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPResponse

from sqlalchemy import Engine

from tests.support.serving import ask, served
from tests.support.shop_builder import ShopBuilder
from tests.support.waiting import PATIENCE_SECONDS

CHUNKED = "Transfer-Encoding: chunked\r\n"
HALF = b'{"name": "x", "sch'
BODIES = {
    "no size": (CHUNKED, b"zz\r\n{}\r\n0\r\n\r\n"),
    "a negative size": (CHUNKED, b"-2\r\n{}\r\n0\r\n\r\n"),
    "a size that is none": (CHUNKED, b"fffffffffffffffff\r\n{}\r\n0\r\n\r\n"),
    "a chunk that is longer than its size": (CHUNKED, b"1\r\n{}\r\n0\r\n\r\n"),
    "a chunk that is cut": (CHUNKED, b"fff\r\n" + HALF),
    "no last chunk": (CHUNKED, b"12\r\n" + HALF + b"\r\n"),
    "a malformed trailer": (CHUNKED, b"12\r\n" + HALF + b"\r\n0\r\n no name\r\n\r\n"),
    "nothing": (CHUNKED, b""),
    "a body that is cut": ("Content-Length: 100\r\n", HALF),
    "a whole object that was to be longer": (
        "Content-Length: 100\r\n",
        b'{"name": "x", "schema": {}}',
    ),
    "two lengths": ("Content-Length: 2\r\nContent-Length: 3\r\n", b"{}"),
    "a negative length": ("Content-Length: -1\r\n", b"{}"),
    "a length that is none": ("Content-Length: x\r\n", b"{}"),
    "an unknown coding": ("Transfer-Encoding: x\r\n", b"{}"),
}
# The server's own refusals, which this program never sees, have no content.
REFUSED_BY_THE_SERVER = {
    "two lengths",
    "a negative length",
    "a length that is none",
    "an unknown coding",
}


def test_malformed_bodies(warehouse_url: str, engine: Engine, shop: ShopBuilder) -> None:
    key = shop.mint()
    api = f"POST /v1/forms HTTP/1.1\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"
    page = "POST /settings/sign-in HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    with served(warehouse_url) as (_, port):
        for name, (framing, body) in BODIES.items():
            for head, is_page in ((api, False), (page, True)):
                answer, content = sent(port, f"{head}Host: x\r\n{framing}\r\n".encode() + body)
                assert answer.status == 400, name
                if name in REFUSED_BY_THE_SERVER:
                    assert content == b"", name
                elif is_page:
                    assert answer.getheader("X-Request-Id", "-").encode() in content, name
                else:
                    error = json.loads(content)["error"]
                    assert error["code"] in ("invalid_json", "invalid_body"), name
                    assert set(error) == {"code", "message", "requestId"}, name
        status, forms = ask(port, "GET", "/v1/forms", key)
        assert (status, forms["data"]) == (200, [])


def test_malformed_bodies_at_once(warehouse_url: str, engine: Engine, shop: ShopBuilder) -> None:
    """A page takes the forms of one address one after the other."""
    page = "POST /settings/sign-in HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    requests = [
        f"{page}Host: x\r\n{framing}\r\n".encode() + body for framing, body in BODIES.values()
    ]
    with served(warehouse_url) as (_, port), ThreadPoolExecutor(12) as clients:
        answers = clients.map(lambda request: sent(port, request)[0].status, requests * 10)
        assert set(answers) == {400}


def sent(port: int, request: bytes) -> tuple[HTTPResponse, bytes]:
    """The answer to a request after which the client sends nothing more."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        answer = HTTPResponse(connection)
        answer.begin()
        return answer, answer.read()

"""`python -m tests.system.fuzz --requests 100000`: random requests to a real server, with and without a key.

It fails on a 500, on an error that has not the shape of errors, on a process of the server that ended,
and on a line of its log that is none. A request that it prints is sent again by its `--seed` and `--first`.
"""

import json
import re
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from urllib.parse import urlencode

import click

from jobs.demo.cast import QUIZ, SHOP_ID
from tests.support.commands import Command
from tests.support.hostile_requests import Target, hostile_request
from tests.support.people import PASSWORD, SIGN_IN, password_hash
from tests.support.serving import ask, await_workers, served
from tests.support.shop_builder import writing
from tests.web.openapi.described import described
from warehouse.connections.engine import open_engine
from warehouse.tables import shop
from web.auth import members
from web.auth.audit import OPERATOR, Change

EMAIL = "fuzz@example.com"
# Requests at once: more than a process of the server has for one shop.
CLIENTS = 8
PATIENCE_SECONDS = 60
# After so long without an answer a request is taken for one that the server waits for the rest of.
SOON_SECONDS = 0.1
LENGTH = re.compile(rb"^content-length: (\d+)\r?$", re.M | re.I)
# As many as possible: what a limit refuses tests nothing else.
SETTINGS = {"RATE_LIMIT": "1000000/1"}
HOW_MANY_ARE_SHOWN = 20


@dataclass
class Outcome:
    """How often which status came (0: the connection ended without an answer), and what is wrong."""

    statuses: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


@contextmanager
def fuzzed(folder: Path) -> Iterator["Fuzzer"]:
    """A server over the demo's shop."""
    url = f"sqlite:///{folder / 'warehouse.db'}"
    with described(url) as service:
        keys = [service.key, *service.keys_without.values(), service.key[:-1] + "_", "x"]
    _add_member(url)
    with served(url, SETTINGS) as (server, port):
        cookie, token = _signed_in(port)
        target = Target(QUIZ.id, [service.key] * 40 + keys, cookie, token)
        yield Fuzzer(port, service.key, server, target)


class Fuzzer:
    """Sends requests to a server, and checks what it answers."""

    def __init__(self, port: int, key: str, server: Command, target: Target) -> None:
        self.port, self.key, self.server, self.target = port, key, server, target
        self._workers = await_workers(server.pid)

    def fuzz(self, numbers: range, seed: int) -> Outcome:
        """Send the requests of these numbers."""
        outcome = Outcome()

        def send(number: int) -> None:
            request = hostile_request(self.target, Random(f"{seed}/{number}"))
            status, objection = self._answer(request)
            outcome.statuses[status] += 1
            if objection:
                outcome.wrong.append(f"request {number}: {objection}: {request[:300]!r}")

        with ThreadPoolExecutor(CLIENTS) as clients:
            for _ in clients.map(send, numbers):
                if len(outcome.wrong) >= HOW_MANY_ARE_SHOWN:
                    clients.shutdown(cancel_futures=True)
                    break
        outcome.wrong += self._complaints()
        return outcome

    def _answer(self, request: bytes) -> tuple[int, str]:
        """The status of the answer, and what is wrong with it."""
        began = time.monotonic()
        answered, is_bare = b"", request.startswith(b"HEAD ")
        with socket.create_connection(("127.0.0.1", self.port), SOON_SECONDS) as connection:
            try:
                connection.sendall(request)
                while not _is_answer(answered, is_bare=is_bare) and (part := _received(connection)):
                    answered += part
            except TimeoutError:
                return 0, f"no end of the answer in {time.monotonic() - began:.0f} s"
            except OSError:
                pass  # The server has closed the connection.
        return _judged(answered)

    def _complaints(self) -> list[str]:
        """The faults of the server after the requests."""
        found = []
        if ask(self.port, "GET", "/v1/forms", self.key)[0] != 200:
            found.append("the server no longer answers as before")
        if await_workers(self.server.pid) != self._workers:
            found.append("a process of the server ended")
        for line in self.server.errors.splitlines():
            if '"exception"' in line or not line.startswith(("{", "Serving on ")):
                found.append(f"in the log: {line[:2000]}")
        return found[:HOW_MANY_ARE_SHOWN]


def _received(connection: socket.socket) -> bytes:
    """The next bytes, b"" at the end. A server that waits for the rest of a request is told that there
    is none."""
    try:
        return connection.recv(1_000_000)
    except TimeoutError:
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(PATIENCE_SECONDS)
        return connection.recv(1_000_000)


def _is_answer(answered: bytes, *, is_bare: bool) -> bool:
    """Whether these bytes hold a whole answer; a bare one has no body."""
    head, ended, rest = answered.partition(b"\r\n\r\n")
    length = LENGTH.search(head)
    return bool(ended) and (is_bare or length is None or len(rest) >= int(length[1]))


def _judged(answered: bytes) -> tuple[int, str]:
    """The status of the first answer of a connection, and what is wrong with it."""
    if not answered:
        return 0, ""
    head, _, rest = answered.partition(b"\r\n\r\n")
    status_line = re.match(rb"HTTP/1\.[01] (\d{3}) ", head)
    if not status_line:
        return 0, f"no HTTP: {answered[:100]!r}"
    status = int(status_line[1])
    if status == 500:
        return status, f"500: {rest[:300]!r}"
    is_json = re.search(rb"^content-type: application/json\r?$", head, re.M | re.I)
    length = LENGTH.search(head)
    body = rest[: int(length[1])] if length else rest
    # The answer to a HEAD has no body; what follows is the next answer.
    is_bare = body.startswith(b"HTTP/1.") or b"content-encoding" in head.lower()
    if status >= 400 and is_json and body and not is_bare and not _is_error(body):
        return status, f"another shape: {body[:300]!r}"
    return status, ""


def _is_error(body: bytes) -> bool:
    try:
        return set(json.loads(body)["error"]) == {"code", "message", "requestId"}
    except (ValueError, KeyError, TypeError):
        return False


def _add_member(url: str) -> None:
    engine = open_engine(url)
    with writing(engine) as connection:
        query = shop.select().where(shop.c.shop_id == SHOP_ID)
        key = connection.execute(query).one().shop_key
        permissions = ("forms:edit", "discounts:view", "connections:manage")
        members.add(Change(connection, OPERATOR, 0), key, EMAIL, permissions)
        added = members.find(connection, SHOP_ID, EMAIL)
        members.set_password(Change(connection, OPERATOR, 0), added.member_key, password_hash())
    engine.dispose()


def _signed_in(port: int) -> tuple[str, str]:
    """The cookie of a member who has signed in, and the hidden token of their forms."""
    cookie, token = "", ""
    for path, method in ((SIGN_IN, "GET"), (SIGN_IN, "POST"), ("/settings/connections/new", "GET")):
        body = urlencode({"csrf_token": token, "email": EMAIL, "password": PASSWORD})
        connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
        headers = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
        connection.request(method, path, body if method == "POST" else None, headers)
        answer = connection.getresponse()
        page = answer.read().decode()
        assert answer.status in (200, 302), page
        cookie = (answer.getheader("Set-Cookie") or cookie).partition(";")[0]
        if found := re.search(r'name="csrf_token"[^>]*value="([^"]+)"', page):
            token = found[1]
        connection.close()
    return cookie, token


@click.command()
@click.option("--requests", default=100_000)
@click.option("--first", default=0, help="the number of the first request")
@click.option("--seed", default=1)
def main(requests: int, first: int, seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder, fuzzed(Path(folder)) as fuzzer:
        began = time.monotonic()
        outcome = fuzzer.fuzz(range(first, first + requests), seed)
    counts = ", ".join(f"{status}: {count}" for status, count in sorted(outcome.statuses.items()))
    seconds = time.monotonic() - began
    click.echo(f"{outcome.statuses.total()} requests in {seconds:.0f} s; by status {counts}")
    click.echo(f"wrong: {len(outcome.wrong)}")
    for one in outcome.wrong:
        click.echo(f"  {one}")
    sys.exit(bool(outcome.wrong))


if __name__ == "__main__":
    main()

"""Attacks on a server: each function goes on until it is told to stop."""

import gzip
import http.client
import itertools
import json
import re
import resource
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import date, timedelta
from multiprocessing.synchronize import Event
from threading import Thread
from urllib.parse import urlencode

from tests.support.people import ACCOUNT, PASSWORD, SIGN_IN

ATTACKER, SECOND_ATTACKER = "127.0.0.66", "127.0.0.67"
FORM = "application/x-www-form-urlencoded"
# The longest that anybody waits for an answer.
LOST_SECONDS = 10
# zxcvbn takes longest for these: letters that may stand for many others.
MARCH_1 = date(2024, 3, 1)
HARD = ("4@8({[<3691!|70$5+7%24@8({[<3691!|70$5+7%2" * 2)[:72]
LANGUAGES = ",".join(f"q{number}" for number in range(100, 9_600))


@dataclass(frozen=True)
class Target:
    """A server and a collector; the key and the write key of the tenant that is attacked, and the address
    that the other one asks with its own key."""

    port: int
    collector: int
    server: int
    key: str
    write_key: str
    poisoned: str = ""
    own_key: str = ""


class _From(http.client.HTTPConnection):
    """A connection from an address of the loopback interface."""

    def __init__(self, port: int, address: str) -> None:
        super().__init__("127.0.0.1", port, LOST_SECONDS, source_address=(address, 0))


def ask(
    port: int,
    method: str,
    path: str,
    body: str | bytes | None = None,
    address: str = "127.0.0.1",
    **headers: str,
) -> tuple[int, str, str]:
    """Status, body and cookie of an answer; status 0 where there is none."""
    connection = _From(port, address)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request(method, path, body, named)
        answer = connection.getresponse()
        text = answer.read().decode("utf-8", "replace")
        cookie = re.search(r"\bmember=[^;]*", answer.getheader("Set-Cookie") or "")
        return answer.status, text, cookie[0] if cookie else ""
    except (OSError, http.client.HTTPException):
        return 0, "", ""
    finally:
        connection.close()


def sign_in(port: int, email: str, password: str, address: str) -> tuple[int, str]:
    """The status of a sign-in in a new browser, and its cookie."""
    _, page, cookie = ask(port, "GET", SIGN_IN, address=address)
    found = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', page)
    sent = urlencode(
        {"csrf_token": found[1] if found else "", "email": email, "password": password}
    )
    status, _, new = ask(port, "POST", SIGN_IN, sent, address, Cookie=cookie, Content_Type=FORM)
    return status, new


def hard_passwords(target: Target, stop: Event) -> None:
    """A member without any permission sends a password that takes long to score, in a loop."""
    _passwords(target, stop, 1)


def hard_passwords_at_once(target: Target, stop: Event) -> None:
    """The same with 16 connections."""
    _passwords(target, stop, 16)


def _passwords(target: Target, stop: Event, clients: int) -> None:
    _, cookie = sign_in(target.port, "eve@example.com", PASSWORD, ATTACKER)
    # The token of the forms is in the cookie that comes with the first of them.
    _, page, newer = ask(target.port, "GET", ACCOUNT, address=ATTACKER, Cookie=cookie)
    cookie = newer or cookie
    (token,) = set(re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', page))
    sent = urlencode({"csrf_token": token, "old": "x", "password": HARD, "again": HARD})
    _at_once(
        clients,
        stop,
        lambda: ask(target.port, "POST", ACCOUNT, sent, ATTACKER, Cookie=cookie, Content_Type=FORM),
    )


def made_up_sign_ins(target: Target, stop: Event) -> None:
    """An address tries made-up accounts on 10 connections."""
    _, page, cookie = ask(target.port, "GET", SIGN_IN, address=ATTACKER)
    (token,) = set(re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', page))
    numbers = iter(range(10**9))

    def attempt() -> None:
        account = {"email": f"{next(numbers)}@example.com", "password": "a guess"}
        sent = urlencode({"csrf_token": token, **account})
        ask(target.port, "POST", SIGN_IN, sent, ATTACKER, Cookie=cookie, Content_Type=FORM)

    _at_once(10, stop, attempt)


def idle_connections(target: Target, stop: Event) -> None:
    """4,500 connections of one address send nothing, and are opened again when they are closed."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 8_192), most))
    held: list[socket.socket] = []
    while not stop.is_set():
        held = [client for client in held if not _has_ended(client)]
        while len(held) < min(4_500, most - 200) and not stop.is_set():
            client = socket.socket()
            client.bind((ATTACKER, 0))
            client.setblocking(False)
            with suppress(BlockingIOError):
                client.connect(("127.0.0.1", target.port))
            held.append(client)
            time.sleep(0.0002)
        time.sleep(0.05)


def endless_events(target: Target, stop: Event) -> None:
    """Two addresses send one byte of each body to the collector, on 28 connections."""
    _endless(target.collector, "/v1/track", "application/json", 28, stop)


def full_batches(target: Target, stop: Event) -> None:
    """An address sends batches of 2,500 events, packed, in a loop."""
    numbers = itertools.count()

    def send() -> None:
        calls = [_view(next(numbers), timestamp="2026-11-01T10:00:00Z") for _ in range(2_500)]
        batch = json.dumps({"batch": calls, "writeKey": target.write_key})
        packed = {"Content_Type": "application/json", "Content_Encoding": "gzip"}
        body = gzip.compress(batch.encode(), 1)
        ask(target.collector, "POST", "/v1/batch", body, ATTACKER, **packed)

    _at_once(1, stop, send)


def made_up_agents(target: Target, stop: Event) -> None:
    """An address sends batches of 440 calls with as many long user agents, on 16 connections."""
    numbers = itertools.count(10**7)

    def send() -> None:
        agents = [f"{next(numbers)}{'_a' * 400}" for _ in range(440)]
        calls = [_view(0, context={"userAgent": agent}) for agent in agents]
        batch = json.dumps({"batch": calls, "writeKey": target.write_key})
        packed = {"Content_Type": "application/json", "Content_Encoding": "gzip"}
        body = gzip.compress(batch.encode(), 1)
        ask(target.collector, "POST", "/v1/batch", body, ATTACKER, **packed)

    _at_once(16, stop, send)


def twelve_networks_with_nothing(target: Target, stop: Event) -> None:
    """Twelve networks send calls that are dropped, as many as they may."""
    _of_networks(target, stop, lambda _number: {"event": "x"})


def twelve_networks_with_events(target: Target, stop: Event) -> None:
    """Twelve networks send events of a shop, as many as they may."""
    _of_networks(target, stop, _view)


def made_up_forms(target: Target, stop: Event) -> None:
    """An address names ever new forms of a shop, 200 in a batch."""
    numbers = itertools.count()

    def view(_number: int) -> dict[str, object]:
        number = next(numbers)
        properties = {"form_id": f"made up {number}", "form_session_id": f"m{number}"}
        return _view(number, properties=properties)

    _of_networks(target, stop, view)


def poisoned_answers(target: Target, stop: Event) -> None:
    """A tenant asks for the pairs of answers of its form with as many choices as count, on 16 connections."""
    headers = {"Authorization": f"Bearer {target.own_key}"}
    _at_once(16, stop, lambda: ask(target.port, "GET", target.poisoned, None, ATTACKER, **headers))


def large_answers(target: Target, stop: Event) -> None:
    """A tenant asks for its longest answers, each for other days than the last, on 16 connections."""
    headers, numbers = {"Authorization": f"Bearer {target.own_key}"}, itertools.count()

    def read() -> None:
        days = f"{MARCH_1 - timedelta(next(numbers) % 300)}..{MARCH_1 + timedelta(30)}"
        path = f"{target.poisoned.partition('/cross-field')[0]}/response-revenue?range={days}"
        ask(target.port, "GET", path, None, ATTACKER, **headers)

    _at_once(16, stop, read)


def _of_networks(target: Target, stop: Event, call: Callable[[int], dict[str, object]]) -> None:
    networks, numbers = itertools.cycle(range(12)), itertools.count()

    def send() -> None:
        batch = {"batch": [call(next(numbers)) for _ in range(200)], "writeKey": target.write_key}
        address = f"127.0.3.{next(networks) + 1}"
        kind = "application/json"
        ask(target.collector, "POST", "/v1/batch", json.dumps(batch), address, Content_Type=kind)

    _at_once(6, stop, send)


def _view(number: int, **more: object) -> dict[str, object]:
    properties = {"form_id": "nl", "form_session_id": f"s{number}"}
    visitor = {"messageId": f"{ATTACKER} {number}", "anonymousId": f"v{number}"}
    return {"event": "Form Viewed", **visitor, "properties": properties, **more}


def endless_sign_ins(target: Target, stop: Event) -> None:
    """Two addresses send one byte of each form, on 100 connections."""
    _endless(target.port, SIGN_IN, FORM, 100, stop)


def files_without_a_sign_in(target: Target, stop: Event) -> None:
    """Two addresses drop files as nobody, on 24 connections."""
    addresses = itertools.cycle((ATTACKER, SECOND_ATTACKER))
    kind = "multipart/form-data; boundary=x"
    _at_once(
        24,
        stop,
        lambda: ask(
            target.port, "POST", "/data/drop", "", address=next(addresses), Content_Type=kind
        ),
    )


def _endless(port: int, path: str, kind: str, clients: int, stop: Event) -> None:
    """Connections are not opened again: what is held ends after a while, or never."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: 5000\r\n\r\nx"
    )
    with ExitStack() as opened:
        for number in range(clients):
            client = opened.enter_context(socket.socket())
            client.bind(((ATTACKER, SECOND_ATTACKER)[number % 2], 0))
            client.connect(("127.0.0.1", port))
            client.sendall(head.encode())
        stop.wait()


def many_languages(target: Target, stop: Event) -> None:
    """A member's browser names 9,500 languages, on 16 connections."""
    _, cookie = sign_in(target.port, "eve@example.com", PASSWORD, ATTACKER)
    _at_once(
        16,
        stop,
        lambda: ask(
            target.port,
            "GET",
            "/revenue",
            address=ATTACKER,
            Cookie=cookie,
            Accept="text/html",
            Accept_Language=LANGUAGES,
        ),
    )


def long_methods(target: Target, stop: Event) -> None:
    """A stranger's methods have 60,000 letters."""
    _at_once(1, stop, lambda: ask(target.port, "M" + "X" * 60_000, "/healthz", address=ATTACKER))


def _at_once(clients: int, stop: Event, do: Callable[[], object]) -> None:
    def repeat() -> None:
        while not stop.is_set():
            do()

    threads = [Thread(target=repeat) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _has_ended(client: socket.socket) -> bool:
    try:
        ended = client.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        ended = True
    if ended:
        client.close()
    return ended

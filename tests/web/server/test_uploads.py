"""Files that come slowly, or never end: they are given up, and take nothing from others."""

import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from tests.support.commands import Command
from tests.support.people import Browser, add_member, token_of
from tests.support.serving import ask, served
from tests.support.shop_builder import ShopBuilder
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from warehouse.connections.engine import open_engine
from web.app import close_app, create_app
from web.limits.connections import BODY_SECONDS

ENDS_LATE = BODY_SECONDS + PATIENCE_SECONDS


class Site:
    """A service, and what a browser of a member of a shop sends to it."""

    def __init__(self, port: int, cookie: str, token: str, landing: Path) -> None:
        self.port, self.cookie, self.landing = port, cookie, landing
        self.fields = (
            f'--B\r\nContent-Disposition: form-data; name="csrf_token"\r\n\r\n{token}\r\n'
            '--B\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        )

    def begin(self, length: int = 100_000_000) -> socket.socket:
        """The beginning of a form with a file."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=ENDS_LATE)
        connection.sendall(
            f"POST /data/drop HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nCookie: member={self.cookie}\r\n"
            "Content-Type: multipart/form-data; boundary=B\r\n"
            f"Content-Length: {length}\r\n\r\n{self.fields}".encode()
        )
        # The server reads in pieces. One that refuses it reads no further.
        with suppress(ConnectionError):
            connection.sendall(b"x" * 600_000)
        return connection

    def send(self, content: bytes) -> str:
        """The answer to a whole form with a file."""
        body = self.fields.encode() + content + b"\r\n--B--\r\n"
        with socket.create_connection(("127.0.0.1", self.port), timeout=ENDS_LATE) as connection:
            # A server that refuses it reads no further.
            with suppress(ConnectionError):
                connection.sendall(
                    f"POST /data/drop HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
                    f"Cookie: member={self.cookie}\r\nConnection: close\r\n"
                    "Content-Type: multipart/form-data; boundary=B\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n".encode()
                    + body
                )
            return answer(connection)

    def left(self) -> list[Path]:
        return [path for path in self.landing.rglob("*") if path.is_file()]


def answer(connection: socket.socket) -> str:
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
        if b"</html>" in part:
            break
    return b"".join(parts).decode()


@pytest.fixture
def site(sqlite_url: str, tmp_path: Path) -> Iterator[tuple[Site, str]]:
    """A service, and a key of another shop."""
    with serving(sqlite_url, tmp_path / "landing") as (one, key, _):
        yield one, key


@contextmanager
def serving(sqlite_url: str, landing: Path) -> Iterator[tuple[Site, str, Command]]:
    engine, app = open_engine(sqlite_url), create_app(sqlite_url)
    add_member(engine, ShopBuilder(engine))
    key = ShopBuilder(engine, "b.example").mint("analytics:read")
    browser = Browser(app.test_client()).signed_in()
    page = browser.get("/data", headers={"Accept": "text/html"}).text
    token = re.search(r'name="csrf_token" value="([^"]+)"', page)
    assert token
    close_app(app)
    engine.dispose()
    with served(sqlite_url, {"IMPORT_DIR": str(landing)}) as (command, port):
        yield Site(port, token_of(browser), token[1], landing), key, command


def test_a_file_that_stalls_is_given_up(site: tuple[Site, str]) -> None:
    one, _ = site
    began = time.monotonic()
    with one.begin() as connection:
        told = answer(connection)
    assert told.startswith("HTTP/1.1 400")
    assert "came more slowly than 32 kB a second" in told
    assert time.monotonic() - began >= BODY_SECONDS - 1
    assert one.left() == []


def test_twelve_at_once_take_nothing_from_another_shop(site: tuple[Site, str]) -> None:
    """One of them is received; the others are refused at once."""
    one, key = site
    with ExitStack() as opened:
        first = opened.enter_context(one.begin())
        wait_until(lambda: len(one.left()) == 1, lambda: "it was not begun")
        for _ in range(11):
            told = answer(opened.enter_context(one.begin()))
            assert told.startswith(("HTTP/1.1 409", "HTTP/1.1 429"))
            assert "is being received" in told
        for _ in range(40):
            assert ask(one.port, "GET", "/v1/forms/funnel", key)[0] == 200
        assert len(one.left()) == 1
        # Its client goes away.
        first.close()
        wait_until(lambda: one.left() == [], lambda: "a part of it stays")


def test_the_most_of_a_file_is_told_before_it_comes(site: tuple[Site, str]) -> None:
    one, _ = site
    with one.begin(300_000_000) as connection:
        told = answer(connection)
    assert told.startswith("HTTP/1.1 413")
    assert "larger than 256 MB (UPLOAD_MB)" in told
    assert one.left() == []


def test_a_full_disk_of_the_landing_folder_keeps_nothing_of_a_file(
    sqlite_url: str, disk: Path
) -> None:
    with serving(sqlite_url, disk / "landing") as (one, key, _):
        check_no_space(one, key, b"x" * 3_000_000, "No space left on device")


def test_a_file_that_the_system_does_not_let_grow_is_not_kept(
    sqlite_url: str, tmp_path: Path
) -> None:
    """As on a full disk, where no disk can be filled."""
    most = 16_000_000
    with serving(sqlite_url, tmp_path / "landing") as (one, key, command):
        server = psutil.Process(command.pid)
        for process in (server, *server.children(recursive=True)):
            process.rlimit(psutil.RLIMIT_FSIZE, (most, most))
        check_no_space(one, key, b"x" * (most + 4_000_000), "File too large")


def check_no_space(one: Site, key: str, content: bytes, reason: str) -> None:
    """That a file is refused and leaves nothing, and that the service goes on."""
    for _ in range(2):
        told = one.send(content)
        assert told.startswith("HTTP/1.1 503")
        assert f"could not be stored ({reason}), and nothing of it was kept" in told
        assert one.left() == []
        assert ask(one.port, "GET", "/v1/forms/funnel", key)[0] == 200
    assert one.send(b"small").startswith("HTTP/1.1 303")
    assert [path.read_bytes() for path in one.left()] == [b"small"]

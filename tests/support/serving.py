"""The commands and the server as processes of their own."""

import http.client
import json
import os
import random
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import urlopen

import psutil

from tests.support.waiting import PATIENCE_SECONDS, wait_until

WORKERS = 2
# Below those that the system gives to outgoing connections, of which tests open thousands.
_PORTS = range(20_000, 30_000)


def run(url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "web", *arguments],
        env={**os.environ, "WAREHOUSE_URL": url},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )


def free_port(count: int = 1) -> int:
    """The first of `count` ports on which nothing listens; no other test is likely to choose one before
    it is used."""
    while True:
        port = random.SystemRandom().choice(_PORTS)
        with ExitStack() as listeners, suppress(OSError):
            for offset in range(count):
                listener = listeners.enter_context(socket.socket())
                listener.bind(("127.0.0.1", port + offset))
            return port


@contextmanager
def served(
    url: str, settings: Mapping[str, str] | None = None, log: Path | None = None
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A server whose two workers both take requests; it logs to a file. `settings` are environment
    variables."""
    with _started("serve", {"WAREHOUSE_URL": url, **(settings or {})}, log) as started:
        yield started


@contextmanager
def collected(
    url: str, landing: Path, settings: Mapping[str, str] | None = None, log: Path | None = None
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A collector, as `served` gives a server; it writes into a landing folder."""
    own = {"WAREHOUSE_URL": url, "IMPORT_DIR": str(landing), "COLLECT_RATE_LIMIT": "off"}
    with _started("collect", {**own, **(settings or {})}, log) as started:
        yield started


@contextmanager
def _started(
    name: str, settings: Mapping[str, str], log: Path | None
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    port = free_port()
    command = [sys.executable, "-m", "web", name, "--port", str(port), "--workers", str(WORKERS)]
    environment = {**os.environ, **settings}
    with (
        # Where it puts what its processes share: nobody cleans up after one that is killed.
        TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        (log or Path(folder, "log")).open("w") as said,
        subprocess.Popen(
            command, env={**environment, "TMPDIR": folder}, stderr=said, text=True
        ) as process,
    ):
        try:
            await_workers(process.pid)
            yield process, port
        finally:
            if process.poll() is None:
                process.kill()


def await_workers(server: int) -> set[int]:
    """The processes that serve, once all of them take requests."""
    wait_until(lambda: len(_listening(server)) >= WORKERS, lambda: "the server did not start")
    return _listening(server)


def _listening(server: int) -> set[int]:
    process = psutil.Process(server)
    assert process.status() != psutil.STATUS_ZOMBIE, "the server ended"
    return {child.pid for child in process.children() if _listens(child.pid)}


def _listens(pid: int) -> bool:
    try:
        connections = psutil.Process(pid).net_connections()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return False
    return any(connection.status == psutil.CONN_LISTEN for connection in connections)


def ask(
    port: int, method: str, path: str, key: str = "", body: Any = None, **headers: str
) -> tuple[int, dict]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if key:
        sent["Authorization"] = f"Bearer {key}"
    chunked = isinstance(body, list)
    # A body that is refused early is not taken to its end; the answer is there all the same.
    with suppress(BrokenPipeError):
        connection.request(method, path, body, sent, encode_chunked=chunked)
    answer = connection.getresponse()
    assert answer.getheader("Content-Type") == "application/json"
    content = json.loads(answer.read())
    connection.close()
    return answer.status, content


def await_page(address: str) -> str:
    """The text at an address, once its server has started."""
    pages: list[str] = []

    def answers() -> bool:
        with suppress(OSError), urlopen(address, timeout=PATIENCE_SECONDS) as page:
            pages.append(page.read().decode())
        return bool(pages)

    wait_until(answers, lambda: f"nothing answers at {address}")
    return pages[0]

"""The servers as processes of their own, and how they are asked."""

import atexit
import fcntl
import http.client
import json
import multiprocessing
import os
import random
import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, partial
from multiprocessing import util
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import IO, Any
from urllib.request import urlopen

import psutil

from tests.support.commands import Command, set_values, start
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from warehouse.settings import COLLECT_CALLS_PER_ADDRESS, COLLECT_CALLS_PER_KEY

WORKERS = 2
# Those of a collector whose operator sets none; in tests it has none.
DEFAULT_LIMITS = {
    setting.name: setting.default for setting in (COLLECT_CALLS_PER_ADDRESS, COLLECT_CALLS_PER_KEY)
}
# Below those that the system gives to outgoing connections, of which tests open thousands.
_PORTS = range(20_000, 30_000)
_chosen: set[int] = set()


def free_port(count: int = 1) -> int:
    """The first of `count` ports on which nothing listens; no other test chooses one of them while this
    process runs."""
    while True:
        port = random.SystemRandom().choice(_PORTS)
        ports = set(range(port, port + count))
        with ExitStack() as listeners, suppress(OSError):
            # A process may lock again what it has locked.
            if _chosen & ports:
                continue
            fcntl.lockf(_of_all_runs(), fcntl.LOCK_EX | fcntl.LOCK_NB, count, port)
            for each in ports:
                listener = listeners.enter_context(socket.socket())
                listener.bind(("127.0.0.1", each))
            _chosen.update(ports)
            return port


@cache
def _of_all_runs() -> IO[bytes]:
    """A file in which the byte of a port is locked by the process that has chosen it."""
    return (Path(gettempdir()) / f"formrevenue-ports-{os.getuid()}").open("wb")


@contextmanager
def served(
    url: str,
    settings: Mapping[str, str] | None = None,
    values: Mapping[str, object] | None = None,
) -> Iterator[tuple[Command, int]]:
    """A server whose two workers both take requests. `settings` are environment variables, `values` those of
    names of its modules (MODULE.NAME): a limit that would be long to wait for."""
    with _started("serve", {"WAREHOUSE_URL": url, **(settings or {})}, values) as started:
        yield started


@contextmanager
def collected(
    url: str,
    landing: Path,
    settings: Mapping[str, str] | None = None,
    values: Mapping[str, object] | None = None,
) -> Iterator[tuple[Command, int]]:
    """A collector, as `served` gives a server; it writes into a landing folder."""
    unlimited = dict.fromkeys(DEFAULT_LIMITS, "off")
    own = {"WAREHOUSE_URL": url, "IMPORT_DIR": str(landing), **unlimited}
    with _started("collect", {**own, **(settings or {})}, values) as started:
        yield started


@contextmanager
def _started(
    name: str, settings: Mapping[str, str], values: Mapping[str, object] | None
) -> Iterator[tuple[Command, int]]:
    port = free_port()
    words = (name, "--port", str(port), "--workers", str(WORKERS))
    # Where it puts what its processes share: nobody cleans up after one that is killed.
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        # The metrics have a thread and a socket of their own, which forks would keep open.
        is_measured = any("METRICS_PORT" in name for name in settings)
        assert not (is_measured and values), "processes that start from nothing would not have them"
        before = None if is_measured else partial(_fork_the_workers, values or {})
        server = start("web", *words, settings={**settings, "TMPDIR": folder}, before=before)
        try:
            await_workers(server.pid)
            yield server, port
        finally:
            server.kill_all()
            server.wait()


def _fork_the_workers(values: Mapping[str, object]) -> None:
    """Have the server fork its workers, where it would start them from nothing: each would import all of
    the API again. A start from nothing is in `tests/system/test_entry_points.py`."""
    set_values(values)
    multiprocessing.set_start_method = lambda *_, **__: None
    util.register_after_fork(_end_as_python_does, lambda end: end())


def _end_as_python_does() -> None:
    """A worker that is started from nothing calls at its end what it has registered; a fork does not."""
    atexit._clear()
    util.Finalize(None, atexit._run_exitfuncs, exitpriority=0)


def await_workers(server: int) -> set[int]:
    """The processes that serve, once all of them take requests."""
    wait_until(lambda: len(_listening(server)) >= WORKERS, lambda: "the server did not start")
    return _listening(server)


def _listening(server: int) -> set[int]:
    process = psutil.Process(server)
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

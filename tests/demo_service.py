"""`make demo` as a newcomer runs it, on a warehouse and a port of its own."""

import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Demo:
    port: int
    key: str
    output: str


@contextmanager
def running(url: str, days: int, seconds: int = 180) -> Iterator[Demo]:
    """The demo service with `days` of data; the environment is the one that runs the tests."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # What the make that runs the tests was told is not meant for this one.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    process = subprocess.Popen(
        ["make", "-o", ".venv/.ready", f"PYTHON={sys.executable}", "demo"],
        cwd=ROOT,
        env=inherited | {"WAREHOUSE_URL": url, "PORT": str(port), "DAYS": str(days)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    said: list[str] = []
    assert process.stdout
    stdout = process.stdout
    listener = threading.Thread(target=lambda: said.extend(iter(stdout.readline, "")))
    listener.start()
    try:
        _wait_until_it_answers(port, process, said, monotonic() + seconds)
        output = "".join(said)
        key = re.search(r"export KEY=(\S+)", output)
        assert key, output
        yield Demo(port, key[1], output)
    finally:
        process.terminate()
        process.wait(30)
        listener.join(30)
        stdout.close()


def _wait_until_it_answers(
    port: int, process: subprocess.Popen[str], said: list[str], deadline: float
) -> None:
    while monotonic() < deadline and process.poll() is None:
        try:
            with urlopen(f"http://localhost:{port}/healthz", timeout=5):
                return
        except (URLError, OSError):
            sleep(0.2)
    raise AssertionError(f"the demo does not answer:\n{''.join(said)}")

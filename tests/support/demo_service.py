"""`make demo` as a newcomer runs it, on its own warehouse and port."""

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

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Demo:
    """`url` is that of the warehouse; `link` signs in to the overview, once."""

    url: str
    port: int
    key: str
    link: str
    output: str


@contextmanager
def running(url: str, days: int, seconds: int = 180) -> Iterator[Demo]:
    """The demo service with `days` days of data, in the environment that runs the tests."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # The variables of the make that runs the tests are not meant for this one.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    process = subprocess.Popen(
        ["make", "-o", ".venv/.ready", f"PYTHON={sys.executable}", "demo"],
        cwd=ROOT,
        env=inherited | {"WAREHOUSE_URL": url, "PORT": str(port), "DAYS": str(days)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    output_lines: list[str] = []
    assert process.stdout
    stdout = process.stdout
    listener = threading.Thread(target=lambda: output_lines.extend(iter(stdout.readline, "")))
    listener.start()
    try:
        _wait_until_it_answers(port, process, output_lines, monotonic() + seconds)
        output = "".join(output_lines)
        key = re.search(r"export KEY=(\S+)", output)
        link = re.search(r"^  (http\S+/sign-in/\S+)$", output, re.MULTILINE)
        assert key, output
        assert link, output
        yield Demo(url, port, key[1], link[1], output)
    finally:
        process.terminate()
        process.wait(30)
        listener.join(30)
        stdout.close()


def _wait_until_it_answers(
    port: int, process: subprocess.Popen[str], output_lines: list[str], deadline: float
) -> None:
    while monotonic() < deadline and process.poll() is None:
        try:
            with urlopen(f"http://localhost:{port}/healthz", timeout=5):
                return
        except (URLError, OSError):
            sleep(0.2)
    raise AssertionError(f"the demo does not answer:\n{''.join(output_lines)}")

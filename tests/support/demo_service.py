"""`make demo` as a newcomer runs it, on its own warehouse and port."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory

from tests.support.serving import free_port
from tests.support.waiting import PATIENCE_SECONDS, wait_until

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Demo:
    """`url` is that of the warehouse; the button of `link` signs in to the overview, once."""

    url: str
    port: int
    key: str
    link: str
    output: str


@contextmanager
def running(url: str, days: int) -> Iterator[Demo]:
    """The demo service with `days` days of data, in the environment that runs the tests."""
    # The API's, the collector's and the page's.
    port = free_port(3)
    # The variables of the make that runs the tests are not meant for this one.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    inherited.pop("PORT", None)
    with NamedTemporaryFile("w", suffix=".env") as settings, TemporaryDirectory() as data:
        print(f"PORT={port}", file=settings, flush=True)
        own = {"WAREHOUSE_URL": url, "ENV_FILE": settings.name, "DATA_DIR": data}
        own["DAYS"] = str(days)
        process = subprocess.Popen(
            ["make", "-o", ".venv/.ready", f"PYTHON={sys.executable}", "demo"],
            cwd=ROOT,
            env=inherited | own,
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
            _wait_for_the_link(process, output_lines)
            output = "".join(output_lines)
            key = re.search(r"export KEY=(\S+)", output)
            link = re.search(r"^  (http\S+/sign-in/\S+)$", output, re.MULTILINE)
            assert key, output
            assert link, output
            yield Demo(url, port, key[1], link[1], output)
        finally:
            process.terminate()
            process.wait(PATIENCE_SECONDS)
            listener.join(PATIENCE_SECONDS)
            stdout.close()


def _wait_for_the_link(process: subprocess.Popen[str], output_lines: list[str]) -> None:
    """It is the last that is printed, once the service answers."""

    def is_printed() -> bool:
        assert process.poll() is None, "".join(output_lines)
        return any("/sign-in/" in line for line in output_lines)

    wait_until(is_printed, lambda: "".join(output_lines))

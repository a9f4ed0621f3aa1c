"""The commands and the server as processes of their own."""

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


def run(url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "web", *arguments],
        env={**os.environ, "WAREHOUSE_URL": url},
        capture_output=True,
        text=True,
        timeout=60,
    )


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def served(
    url: str, settings: Mapping[str, str] | None = None, log: Path | None = None
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A server with two workers that takes requests, and logs to a file; `settings` are environment
    variables."""
    port = free_port()
    command = [sys.executable, "-m", "web", "serve", "--port", str(port), "--workers", "2"]
    environment = {**os.environ, "WAREHOUSE_URL": url, **(settings or {})}
    with (
        # Where it puts what its processes share: nobody cleans up after one that is killed.
        TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        (log or Path(folder, "log")).open("w") as said,
        subprocess.Popen(
            command, env={**environment, "TMPDIR": folder}, stderr=said, text=True
        ) as process,
    ):
        try:
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline:
                try:
                    if ask(port, "GET", "/readyz")[0] == 200:
                        break
                except OSError:
                    time.sleep(0.05)
            yield process, port
        finally:
            if process.poll() is None:
                process.kill()


def ask(
    port: int, method: str, path: str, key: str = "", body: Any = None, **headers: str
) -> tuple[int, dict]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if key:
        sent["Authorization"] = f"Bearer {key}"
    chunked = isinstance(body, list)
    connection.request(method, path, body, sent, encode_chunked=chunked)
    answer = connection.getresponse()
    assert answer.getheader("Content-Type") == "application/json"
    content = json.loads(answer.read())
    connection.close()
    return answer.status, content

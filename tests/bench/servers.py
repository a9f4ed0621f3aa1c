"""Servers that are measured: processes of their own, on free ports of this machine."""

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil


@dataclass(frozen=True)
class Server:
    port: int
    process: psutil.Process


@contextmanager
def serving(url: str, *words: str, limit: str = "off") -> Iterator[Server]:
    """`python -m WORDS... PORT` on the warehouse, once it takes requests; with that many for each shop."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = psutil.Popen(
        [sys.executable, "-m", *words, str(port)],
        env=os.environ | {"WAREHOUSE_URL": url, "RATE_LIMIT": limit},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _await(port, process)
        yield Server(port, process)
    finally:
        process.terminate()
        process.wait(30)


def _await(port: int, process: psutil.Popen) -> None:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline and process.poll() is None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            connection.request("GET", "/healthz")
            connection.getresponse().read()
            return
        except OSError:
            time.sleep(0.1)
        finally:
            connection.close()
    raise RuntimeError("the server did not start")

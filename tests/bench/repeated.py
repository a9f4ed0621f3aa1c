"""The service asked by many at once, beside a bare Flask route on the same server.

The same answer again and again, the same that the client has already (304), and ranges that were
never asked before; each as long as a bare route that gives as many bytes, and right after it, since a
machine is not as fast in one minute as in the next.
"""

import http.client
import itertools
from collections.abc import Iterator
from typing import Any

from tests.bench.load import Load, run
from tests.bench.servers import Server, serving
from tests.bench.service import ENDPOINTS, SERVICE, mint, ranges

NAMES = ("funnel", "trends", "ad spend")
KINDS = (("again", 200), ("304", 304), ("cold", 200))


def measure(url: str, seconds: float = 3) -> dict[str, dict[str, Any]]:
    """Per endpoint and kind: what `Load` tells of it and of the bare route, and what is between them:
    requests a second as a share of the bare route's, p99 as a multiple, CPU as microseconds more."""
    key = mint(url)
    measured = {}
    with (
        serving(url, *SERVICE) as service,
        serving(url, "tests.bench.bare") as bare,
    ):
        for name in NAMES:
            path = ENDPOINTS[name][1]
            size, tag = look(service, path, key)
            for kind, status in KINDS:
                floor = _load(bare, itertools.repeat(_request(f"/{size}", key)), 200, seconds)
                load = _load(service, requests(kind, path, key, tag), status, seconds)
                measured[f"{name}, {kind}"] = _beside(load, floor) | {"bytes": size}
    return measured


def _load(server: Server, asked: Iterator[bytes], status: int, seconds: float) -> Load:
    return run(server.port, server.process, asked, status, seconds)


def requests(kind: str, path: str, key: str, tag: str) -> Iterator[bytes]:
    """Requests of one of the kinds."""
    if kind == "cold":
        return (_request(f"{path}?{window}", key) for window in ranges())
    more = f"If-None-Match: {tag}\r\n" if kind == "304" else ""
    return itertools.repeat(_request(_target(path), key, more))


def _target(path: str) -> str:
    """The 90 days of data."""
    return f"{path}?{next(ranges())}"


def _request(target: str, key: str, more: str = "") -> bytes:
    head = f"GET {target} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {key}\r\n{more}\r\n"
    return head.encode()


def look(server: Server, path: str, key: str) -> tuple[int, str]:
    """Size and tag of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", _target(path), headers={"Authorization": f"Bearer {key}"})
    answer = connection.getresponse()
    size = len(answer.read())
    connection.close()
    return size, answer.headers["ETag"]


def _beside(load: Load, floor: Load) -> dict[str, Any]:
    return {
        "requests_per_second": load.requests_per_second,
        "p99_ms": load.p99_ms,
        "cpu_us": load.cpu_us,
        "bare_requests_per_second": floor.requests_per_second,
        "bare_p99_ms": floor.p99_ms,
        "bare_cpu_us": floor.cpu_us,
        "share_of_bare": round(load.requests_per_second / floor.requests_per_second, 2),
        "times_bare_p99": round(load.p99_ms / floor.p99_ms, 2),
        "cpu_us_more": load.cpu_us - floor.cpu_us,
    }

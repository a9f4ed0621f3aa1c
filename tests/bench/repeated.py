"""The service asked by many at once, beside a bare Flask route on the same server.

The same answer again and again, the same that the client has already (304), and ranges that were
never asked before; each as long as a bare route that gives as many bytes, and right after it, since a
machine is not as fast in one minute as in the next.
"""

import http.client
import itertools
from collections.abc import Iterator

from tests.bench.goals import Row, row
from tests.bench.load import CONNECTIONS, Load, run
from tests.bench.servers import Server, serving
from tests.bench.service import ENDPOINTS, SERVICE, mint, ranges

NAMES = ("funnel", "trends", "ad spend")
KINDS = (("again", 200), ("304", 304), ("cold", 200))


def measure(url: str, seconds: float = 3) -> list[Row]:
    """Per endpoint and kind: requests a second beside the bare route's, p99 beside its, and for the 304 how
    many microseconds of processor more it takes."""
    key, rows = mint(url), list[Row]()
    with (
        # The limiter counts, and lets everything through.
        serving(url, *SERVICE, limit="1000000/1") as service,
        serving(url, "tests.bench.bare") as bare,
    ):
        for name in NAMES:
            path = ENDPOINTS[name][1]
            size, tag = look(service, path, key)
            for kind, status in KINDS:
                floor = _load(bare, itertools.repeat(_request(f"/{size}", key)), 200, seconds)
                load = _load(service, requests(kind, path, key, tag), status, seconds)
                what = f"{name}, {kind} at {CONNECTIONS}"
                rows += [
                    row(what, load.requests_per_second, "req/s", floor.requests_per_second),
                    row(f"{what}, p99", load.p99_ms, "ms", floor.p99_ms),
                    row(f"{what}, CPU more", load.cpu_us - floor.cpu_us, "us"),
                ]
    return rows


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

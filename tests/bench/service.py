"""The service under requests: each endpoint over 90 days."""

import http.client
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import count, islice

from tests.bench.data import FIRST, FORM_IDS, LAST, SHOP_ID
from tests.bench.servers import serving
from web.reports import CHAPTERS

SCOPES = "analytics:read,customers:read,forms:write,discounts:read"
_FORM = f"/v1/forms/{FORM_IDS[0]}"
ENDPOINTS = {
    "forms": ("GET", "/v1/forms"),
    "create form": ("POST", "/v1/forms"),
    "all-forms funnel": ("GET", "/v1/forms/funnel"),
    "form": ("GET", _FORM),
    "replace draft": ("PUT", _FORM),
    "funnel": ("GET", f"{_FORM}/funnel"),
    "drop-off": ("GET", f"{_FORM}/steps/dropoff"),
    "time to complete": ("GET", f"{_FORM}/time-to-complete"),
    "devices": ("GET", f"{_FORM}/devices"),
    "visitor conversion": ("GET", f"{_FORM}/visitor-conversion"),
    "cross-field": ("GET", f"{_FORM}/cross-field?fieldA=field-0&fieldB=field-1"),
    "response revenue": ("GET", f"{_FORM}/response-revenue"),
    "trends": ("GET", f"{_FORM}/trends"),
    "attribution": ("GET", "/v1/attribution"),
    "attribution daily": ("GET", "/v1/attribution/daily"),
    "discounts": ("GET", "/v1/discounts/performance"),
    "by UTM": ("GET", "/v1/revenue/by-utm?dimension=hierarchy"),
    "ad spend": ("GET", "/v1/ads/spend"),
    "LTV": ("GET", "/v1/customers/ltv?dimension=segment"),
    # Reports beyond those of the contract's first nineteen, by the names of their operations. An address that
    # names an order is asked by none: the data have no order of a known id.
    **{
        each.operation: ("GET", each.address.replace("{id}", FORM_IDS[0]))
        for each in CHAPTERS[-2].endpoints
        if "{orderId}" not in each.path
    },
}
# They take no days.
_WITHOUT_DAYS = ("/v1/forms", _FORM)
# One process of its own; the port follows.
SERVICE = ("web", "serve", "--workers", "1", "--port")
_BODIES = {"POST": {"name": "Bench", "schema": {}}, "PUT": {"draft_schema": {"steps": []}}}


def ranges() -> Iterator[str]:
    """Ranges of the 90 days of data, so that no cache of answers helps: no two alike, and each with as
    few days before and after them as it takes."""
    for more in count():
        for before in range(more + 1):
            first, last = FIRST - timedelta(days=before), LAST + timedelta(days=more - before)
            yield f"range={first}..{last}"


def mint(url: str) -> str:
    printed = subprocess.run(
        [sys.executable, "-m", "web", "keys", "mint", "--shop", SHOP_ID, "--scopes", SCOPES]
        + ["--name", "bench"],
        env=os.environ | {"WAREHOUSE_URL": url},
        check=True,
        capture_output=True,
        text=True,
    )
    return printed.stdout.strip().splitlines()[-1]


def measure(url: str, requests: int) -> dict[str, dict[str, float]]:
    """Milliseconds per endpoint: p50 and p99 of ranges never asked before, and p50 of one asked again."""
    key = mint(url)
    asked = list(islice(ranges(), requests))
    measured = {}
    with serving(url, *SERVICE) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        for name, (method, path) in ENDPOINTS.items():
            times, size = [], 0
            for window in [*asked, *asked[:1] * requests]:
                target = path
                if path not in _WITHOUT_DAYS:
                    target += f"{'&' if '?' in path else '?'}{window}"
                took, size = _ask(connection, method, target, key)
                times.append(took * 1000)
            fresh, again = sorted(times[:requests]), sorted(times[requests:])
            measured[name] = {
                "p50_ms": _percentile(fresh, 50),
                "p99_ms": _percentile(fresh, 99),
                "again_p50_ms": _percentile(again, 50),
                "bytes": size,
            }
    return measured


def _percentile(times: list[float], percent: int) -> float:
    """Nearest rank, of sorted times."""
    return round(times[math.ceil(len(times) * percent / 100) - 1], 2)


def _ask(
    connection: http.client.HTTPConnection, method: str, target: str, key: str
) -> tuple[float, int]:
    headers = {"Authorization": f"Bearer {key}"}
    body = None
    if method in _BODIES:
        body = json.dumps(_BODIES[method])
        headers["Content-Type"] = "application/json"
    while True:
        began = time.perf_counter()
        connection.request(method, target, body, headers)
        response = connection.getresponse()
        answer = response.read()
        took = time.perf_counter() - began
        if response.status == 429:  # not what is measured here
            time.sleep(float(response.headers["Retry-After"]))
        elif response.status not in (200, 201):
            raise RuntimeError(f"{method} {target}: {response.status} {answer[:300]!r}")
        else:
            return took, len(answer)

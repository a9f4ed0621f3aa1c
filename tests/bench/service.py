"""The service under requests of one client: each endpoint over 90 days."""

import http.client
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from itertools import count, cycle, islice

from tests.bench.data import CODES, DAYS, FIRST, FORM_IDS, LAST, SHOP_ID
from tests.bench.goals import Row, row
from tests.bench.servers import serving
from web.reports import CHAPTERS
from web.reports import ENDPOINTS as DECLARED

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
ORDERS = "orders"
_WITH_FILTERS = {each.address.replace("{id}", FORM_IDS[0]) for each in DECLARED if each.filters}
# The endpoints of figures that take filters.
FILTERED = [
    name for name, (_, path) in ENDPOINTS.items() if path in _WITH_FILTERS and name != ORDERS
]
# They take no days.
_WITHOUT_DAYS = ("/v1/forms", _FORM)
# One process of its own; the port follows.
SERVICE = ("web", "serve", "--workers", "1", "--port")
_BODIES = {"POST": {"name": "Bench", "schema": {}}, "PUT": {"draft_schema": {"steps": []}}}
# Filters and their values, as they are asked for in turns.
FILTERS = (
    "device=mobile",
    "visitor=new",
    "utm_source=google",
    "device=desktop&visitor=returning",
    "utm_campaign=campaign+3",
    "variant=%28none%29",
)
# The parameters that choose orders; in turns with the same filters.
_ORDERS = (
    "limit=50",
    f"form_id={FORM_IDS[1]}",
    "type=discount_code&limit=200",
    f"discount_id=disc-{CODES[3]}",
    "customer=returning",
)


def ranges() -> Iterator[str]:
    """Ranges of the 90 days of data, so that no cache of answers helps: no two alike, and each with as
    few days before and after them as it takes."""
    for more in count():
        for before in range(more + 1):
            first, last = FIRST - timedelta(days=before), LAST + timedelta(days=more - before)
            yield f"range={first}..{last}"


def _short_ranges() -> Iterator[str]:
    """Ranges that begin in the 90 days, no two alike."""
    for more in count():
        for day in range(DAYS):
            yield f"range={FIRST + timedelta(days=day)}..{LAST + timedelta(days=more)}"


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


def measure(url: str, requests: int) -> list[Row]:
    """Milliseconds by endpoint, of what was never asked before: all of it, then filtered; and pages of
    orders."""
    key, found = mint(url), list[Row]()
    with (
        serving(url, *SERVICE) as server,
        closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection,
    ):

        def took(method: str, target: str) -> tuple[float, bytes]:
            seconds, answer = _ask(connection, method, target, key)
            return seconds * 1000, answer

        def add(what: str, times: list[float]) -> None:
            for percent in (50, 99):
                found.append(row(f"{what} p{percent}", _percentile(sorted(times), percent), "ms"))

        for name, (method, path) in ENDPOINTS.items():
            if name != ORDERS:
                asked = islice(_targets(path, ranges()), requests)
                add(f"{name}, cold", [took(method, target)[0] for target in asked])
            if name in FILTERED:
                of_some = map("&".join, zip(ranges(), cycle(FILTERS), strict=False))
                asked = islice(_targets(path, of_some), requests)
                add(f"{name}, filtered", [took(method, target)[0] for target in asked])
        times = list[float]()
        more = cycle((*_ORDERS, *FILTERS))
        windows = map("&".join, zip(_short_ranges(), more, strict=False))
        for target in _targets(ENDPOINTS[ORDERS][1], windows):
            spent, answer = took("GET", target)
            times.append(spent)
            # The page after it, too.
            if cursor := json.loads(answer)["meta"]["nextCursor"]:
                times.append(took("GET", f"{target}&cursor={cursor}")[0])
            if len(times) >= 3 * requests:
                break
        add(f"{ORDERS}, cold", times)
    return found


def _targets(path: str, queries: Iterator[str]) -> Iterator[str]:
    for query in queries:
        yield path if path in _WITHOUT_DAYS else f"{path}{'&' if '?' in path else '?'}{query}"


def _percentile(times: list[float], percent: int) -> float:
    """Nearest rank, of sorted times."""
    return times[math.ceil(len(times) * percent / 100) - 1]


def _ask(
    connection: http.client.HTTPConnection, method: str, target: str, key: str
) -> tuple[float, bytes]:
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
            return took, answer

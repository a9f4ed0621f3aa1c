"""One key with many connections, and another tenant beside it.

python -m tests.bench.tenants WAREHOUSE_URL SHOP OTHER_SHOP [--seconds 10] [--workers 2]

For a warehouse with two shops that have figures. It prints, as JSON: answers a second of repeated requests on
1 and on 16 connections; milliseconds of a funnel that was never asked before, on 1 connection and on 8. Then
SHOP asks on 16 connections, as a page of sixteen tiles does, beside one connection of OTHER_SHOP.
"""

import itertools
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

import click
from sqlalchemy import text

from tests.bench.load import answers
from tests.bench.servers import serving
from warehouse.connections.engine import open_engine

OF_A_SHOP = (
    *("/v1/attribution", "/v1/attribution/daily", "/v1/forms/funnel", "/v1/ads/spend"),
    *(f"/v1/revenue/by-utm?dimension={name}" for name in ("campaign", "attribution", "hierarchy")),
    *(f"/v1/customers/ltv?dimension={name}" for name in ("form", "segment")),
)
OF_A_FORM = ("funnel", "steps/dropoff", "time-to-complete", "devices", "visitor-conversion")
SCOPES = "analytics:read,customers:read,forms:write,discounts:read"


@dataclass(frozen=True)
class Asked:
    """Answers by status; milliseconds of those with 200."""

    statuses: dict[int, int]
    per_second: int
    p50_ms: float
    p99_ms: float


@click.command(help=__doc__)
@click.argument("url")
@click.argument("shop")
@click.argument("other")
@click.option("--seconds", default=10.0, show_default=True)
@click.option("--workers", default=2, show_default=True)
def main(url: str, shop: str, other: str, seconds: float, workers: int) -> None:
    key, other_key = mint(url, shop), mint(url, other)
    service = ("web", "serve", "--workers", str(workers), "--port")
    with serving(url, *service) as server, ProcessPoolExecutor(1) as beside:

        def ask(key: str, paths: list[str], connections: int, *, is_cold: bool) -> Asked:
            return asked(server.port, key, paths, connections, is_cold, seconds)

        tiles, others = tiles_of(url, shop), tiles_of(url, other)
        funnel = [path for path in tiles if path.endswith("/funnel")][-1:]
        asked(server.port, key, tiles, 8, False, 2)
        again = {count: ask(key, tiles, count, is_cold=False) for count in (1, 16)}
        cold = {count: ask(key, funnel, count, is_cold=True) for count in (1, 8)}
        calm = ask(other_key, others, 1, is_cold=True)
        greedy = beside.submit(asked, server.port, key, tiles, 16, True, seconds + 1)
        crowded = ask(other_key, others, 1, is_cold=True)
        page = greedy.result()
    told = {
        "repeated, 1 and 16 connections, a second": [one.per_second for one in again.values()],
        "repeated, statuses": [one.statuses for one in again.values()],
        "cold, p50 at 1, p99 at 8, and their ratio": [
            *(cold[1].p50_ms, cold[8].p99_ms),
            round(cold[8].p99_ms / cold[1].p50_ms, 1),
        ],
        "cold, a second at 1 and 8": [one.per_second for one in cold.values()],
        "cold on 8, statuses": cold[8].statuses,
        "sixteen tiles, statuses": page.statuses,
        "sixteen tiles, p50, p99 and a second": [page.p50_ms, page.p99_ms, page.per_second],
        "another tenant, calm, p50 and p99": [calm.p50_ms, calm.p99_ms],
        "another tenant, beside them, p50 and p99": [crowded.p50_ms, crowded.p99_ms],
        "another tenant, statuses": crowded.statuses,
    }
    click.echo(json.dumps(told, indent=1))


def asked(
    port: int, key: str, paths: list[str], connections: int, is_cold: bool, seconds: float
) -> Asked:
    """A key asks on so many connections, each as soon as it is answered."""
    statuses: Counter[int] = Counter()
    times = []
    for status, took in answers(port, _requests(key, paths, is_cold), connections, seconds):
        statuses[status] += 1
        if status == 200:
            times.append(took * 1000)
    times.sort()
    return Asked(
        dict(statuses),
        round(len(times) / seconds),
        round(times[len(times) // 2], 2),
        round(times[int(len(times) * 0.99)], 2),
    )


def _requests(key: str, paths: list[str], is_cold: bool) -> Iterator[bytes]:
    """Each path in turn, with windows that were never asked before where it `is_cold`."""
    draw, today = Random(), date(2026, 11, 20)
    for path in itertools.cycle(paths):
        first, last = (draw.randrange(60, 1_500), draw.randrange(0, 5)) if is_cold else (90, 0)
        window = f"range={today - timedelta(days=first)}..{today + timedelta(days=last * 50)}"
        target = f"{path}{'&' if '?' in path else '?'}{window}"
        yield f"GET {target} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {key}\r\n\r\n".encode()


def tiles_of(url: str, shop: str) -> list[str]:
    """Paths of what a page shows of the shop and one of its forms."""
    statement = (
        "SELECT form_id FROM form JOIN shop USING (shop_key) WHERE shop_id = :shop ORDER BY form_id"
    )
    engine = open_engine(url)
    with engine.connect() as connection:
        form = connection.execute(text(statement), {"shop": shop}).scalars().first()
    engine.dispose()
    return [*OF_A_SHOP, *(f"/v1/forms/{form}/{name}" for name in OF_A_FORM)]


def mint(url: str, shop: str) -> str:
    words = ["keys", "mint", "--shop", shop, "--scopes", SCOPES, "--name", "bench"]
    printed = subprocess.run(
        [sys.executable, "-m", "web", *words],
        env=os.environ | {"WAREHOUSE_URL": url},
        check=True,
        capture_output=True,
        text=True,
    )
    return printed.stdout.strip().splitlines()[-1]


if __name__ == "__main__":
    main()

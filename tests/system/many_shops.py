"""`python -m tests.system.many_shops --shops 2000 --seconds 600`: many shops send at once, and the landing
folder keeps up.

Each shop sends a batch of five events every ten seconds, from one of 50 addresses. A scheduler imports
what lands and refreshes the figures each minute. After each eighth of the time it prints how many events
were answered 200, how many are imported and in the figures, the files that wait, and how long each refresh
took. In the end each event that was answered 200 must be imported once and be in the figures, in the second
half of the time no more files may have waited than in the first, and no refresh may have taken longer than a
minute.
"""

import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from typing import Final, NamedTuple

import click
from sqlalchemy import Engine, text

from tests.support.product import Product
from tests.support.serving import DEFAULT_LIMITS, collected
from tests.support.shop_builder import writing
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from warehouse.connections.engine import open_engine
from web.auth import write_keys
from web.auth.audit import Actor, Change

PERIOD: Final = 10.0
EVENTS: Final = ("Form Viewed", "Form Started", "Form Viewed", "Form Subscribed", "Form Completed")
_ADDRESSES: Final = 50
_PARTS: Final = 8
_LOOKS: Final = 4
# An event of each batch is a second view, which the figures do not count.
_NOT_COUNTED: Final = 1
_REFRESH_SECONDS: Final = 60
_COUNTS: Final = text(
    "SELECT (SELECT COUNT(*) FROM raw_event) AS imported, "
    "(SELECT COALESCE(SUM(views + starts + subscriptions + completions), 0) FROM daily_funnel) AS counted"
)
_REFRESHES: Final = text(
    "SELECT (ended_at - started_at) / 1000000.0 AS seconds FROM job_run "
    "WHERE job = 'refresh' AND ended_at > 0 ORDER BY run_id"
)


class Look(NamedTuple):
    """The state at one moment: landed files that wait for their import, and the seconds since the oldest
    landed."""

    files: int
    oldest: float


class Sender(Thread):
    """An address from which shops send: each a batch every ten seconds, evenly spread."""

    def __init__(self, number: int, port: int, keys: list[str], ends: Event) -> None:
        super().__init__(daemon=True)
        self._number, self._keys, self._ends = number, keys, ends
        self._connection = http.client.HTTPConnection(
            "127.0.0.1", port, timeout=60, source_address=(f"127.0.2.{number + 1}", 0)
        )
        self.statuses: Counter[int] = Counter()
        self.seconds: list[float] = []

    def run(self) -> None:
        began, turn = time.monotonic(), 0
        while True:
            for place, key in enumerate(self._keys):
                due = began + (turn + place / len(self._keys)) * PERIOD
                if self._ends.wait(max(due - time.monotonic(), 0)):
                    return
                self._send(key, f"{self._number}-{place}-{turn}")
            turn += 1

    def _send(self, key: str, visitor: str) -> None:
        now = datetime.now(UTC).isoformat()
        properties = {
            "form_id": "newsletter",
            "form_session_id": visitor,
            "form_name": "Newsletter",
        }
        batch = [
            {
                "event": event,
                "messageId": f"{visitor} {number}",
                "anonymousId": visitor,
                "timestamp": now,
                "properties": properties,
            }
            for number, event in enumerate(EVENTS)
        ]
        body = json.dumps({"batch": batch, "writeKey": key, "sentAt": now})
        began = time.perf_counter()
        self._connection.request("POST", "/v1/b", body, {"Content-Type": "text/plain"})
        answer = self._connection.getresponse()
        answer.read()
        self.statuses[answer.status] += 1
        self.seconds.append(time.perf_counter() - began)


def waiting_files(landing: Path) -> Look:
    times = [path.stat().st_ctime for path in landing.glob("events/collected-*.ndjson")]
    return Look(len(times), max(time.time() - min(times), 0) if times else 0)


def created_keys(engine: Engine, shops: list[str]) -> list[str]:
    with writing(engine) as connection:
        change = Change(connection, Actor("load", "load"), 0)
        return [
            write_keys.create(change, shop, ["https://shop.example"], name="") for shop in shops
        ]


@click.command()
@click.option("--shops", "count", default=2_000)
@click.option("--seconds", default=600.0)
def main(count: int, seconds: float) -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        landing = folder / "landing"
        product = Product(f"sqlite:///{folder / 'warehouse.db'}")
        shops = [f"shop-{number}.example" for number in range(count)]
        product.load("shops", [{"shop_id": shop, "currency": "EUR"} for shop in shops])
        engine = open_engine(product.url)
        stack.callback(engine.dispose)
        keys = created_keys(engine, shops)
        settings = {**os.environ, "WAREHOUSE_URL": product.url, "IMPORT_DIR": str(landing)}
        settings["REFRESH_MINUTES"] = str(_REFRESH_SECONDS // 60)
        jobs = [sys.executable, "-m", "jobs"]
        said = stack.enter_context((folder / "scheduler.log").open("w"))
        _, port = stack.enter_context(collected(product.url, landing, DEFAULT_LIMITS))
        wait_until(lambda: _is_ready(port))
        scheduler = stack.enter_context(
            subprocess.Popen([*jobs, "scheduler"], env=settings, stdout=said, stderr=said)
        )
        stack.callback(scheduler.terminate)
        ends = Event()
        senders = [
            Sender(number, port, keys[number::_ADDRESSES], ends)
            for number in range(min(_ADDRESSES, count))
        ]
        began = time.monotonic()
        for sender in senders:
            sender.start()
        looks: list[list[Look]] = [[], []]
        for part in range(1, _PARTS + 1):
            half = looks[part > _PARTS // 2]
            while time.monotonic() < began + seconds * part / _PARTS:
                half.append(waiting_files(landing))
                time.sleep(seconds / _PARTS / _LOOKS)
            _report(began, engine, senders, half[-_LOOKS:])
        ends.set()
        for sender in senders:
            sender.join(PATIENCE_SECONDS)
        sent = sum(sender.statuses[200] for sender in senders) * len(EVENTS)
        until = time.monotonic() + PATIENCE_SECONDS
        countable = sent // len(EVENTS) * (len(EVENTS) - _NOT_COUNTED)
        while (counts := _counts(engine)) < (sent, countable) and time.monotonic() < until:
            time.sleep(1)
        imported, counted = counts
        refreshes = _refreshes(engine)
        statuses = sum((sender.statuses for sender in senders), Counter[int]())
        times = sorted(taken for sender in senders for taken in sender.seconds)
        click.echo(
            f"{len(times) / seconds:.0f} requests/s of {dict(statuses)}, p50 "
            f"{times[len(times) // 2] * 1_000:.0f} ms, p99 {times[len(times) * 99 // 100] * 1_000:.0f} ms"
        )
        click.echo(
            f"{sent} events answered 200, {imported} imported; {counted} of {countable} in the figures; "
            f"load {os.getloadavg()}"
        )
        click.echo(f"refreshes took at most {max(refreshes):.0f} s")
        first, second = (max(look.files for look in half) for half in looks)
        click.echo(f"files that waited: at most {first} in the first half, {second} in the second")
        product.close()
    is_complete = imported == sent and counted == countable
    keeps_up = second <= first + 1 and max(refreshes) < _REFRESH_SECONDS
    sys.exit(0 if is_complete and keeps_up else 1)


def _is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    connection.request("GET", "/readyz")
    return connection.getresponse().status == 200


def _counts(engine: Engine) -> tuple[int, int]:
    with engine.connect() as connection:
        row = connection.execute(_COUNTS).one()
    return row.imported, row.counted


def _refreshes(engine: Engine) -> list[float]:
    with engine.connect() as connection:
        return [float(seconds) for (seconds,) in connection.execute(_REFRESHES)]


def _report(began: float, engine: Engine, senders: list[Sender], looks: list[Look]) -> None:
    answered = sum(sender.statuses[200] for sender in senders) * len(EVENTS)
    imported, counted = _counts(engine)
    files = ", ".join(str(look.files) for look in looks)
    oldest = max(look.oldest for look in looks)
    click.echo(
        f"{time.monotonic() - began:4.0f} s: {answered} events answered 200, {imported} imported, "
        f"{counted} in the figures; files that wait {files}, the oldest for {oldest:.0f} s; refreshes took "
        f"{', '.join(f'{seconds:.0f}' for seconds in _refreshes(engine)) or '-'} s"
    )


if __name__ == "__main__":
    main()

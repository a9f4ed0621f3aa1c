"""`python -m tests.system.collector_load --seconds 60 --clients 100`: the collector under load, with faults.

Each client sends the events of one visitor after another, as libraries do: what is not answered 200 is sent
again, and sometimes what was. A scheduler imports what lands. The first quarter of the time is undisturbed.
Then, again and again, a worker is killed, the collector is killed and started again after its files were
torn, and the disk is full for a while (only where this account may mount a small one). In the end each event
that was answered 200 must be in the figures once, and nothing else. Prints how many requests a second were
answered, and how long an answer took.
"""

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from threading import Event, Thread
from typing import Final, NamedTuple

import click
import psutil

from tests.support.commands import kill, run_web
from tests.support.import_files import FORM, form
from tests.support.product import Product
from tests.support.serving import await_workers, collected
from tests.support.small_disk import NoSmallDisk, small_disk
from tests.support.waiting import PATIENCE_SECONDS
from tests.web.collector.lines import files_of
from warehouse.domain.landing_names import DONE

SHOPS: Final = ("a.example", "b.example", "c.example")
DISK_MB: Final = 128
TORN: Final = b'{"event_id":"torn","type":"vi'
# Seconds between two faults, and of a full disk.
_PAUSE: Final = 2.0
# How often a client sends again what was answered: its answer was lost on the way.
_REPEATS: Final = 0.05
_EVENTS: Final = {
    "Form Viewed": 1.0,
    "Form Started": 0.7,
    "Form Subscribed": 0.4,
    "Form Completed": 0.3,
}
_FIGURES: Final = ("views", "starts", "subscriptions", "completions")


class Answered(NamedTuple):
    """A request that was answered: when, with which status (0: the connection ended), after how long."""

    at: float
    status: int
    seconds: float


class Collecting:
    """The collector that runs at the moment, its folder, and what was done to it."""

    def __init__(self, url: str, landing: Path, chance: random.Random) -> None:
        self.url, self.landing, self.chance = url, landing, chance
        self.done: Counter[str] = Counter()
        self._stack = ExitStack()
        self.start()

    def start(self) -> None:
        self.process, self.port = self._stack.enter_context(collected(self.url, self.landing))

    def kill_worker(self) -> None:
        psutil.Process(self.chance.choice(sorted(await_workers(self.process.pid)))).kill()
        self.done["workers killed"] += 1

    def kill_all(self) -> None:
        """Kill every process; tear what they left, and start anew."""
        kill(self.process.pid)
        self._stack.close()
        for path in files_of(self.landing, growing=True):
            with path.open("ab") as file:
                file.write(TORN)
            self.done["files torn"] += 1
        self.start()
        self.done["collectors killed"] += 1

    def fill_disk(self) -> None:
        """Leave no byte free for a while."""
        filler = self.landing / ".filler"
        with filler.open("wb", buffering=0) as file:
            for size in (1 << 16, 1 << 10, 1):
                with suppress(OSError):
                    while True:
                        file.write(b"x" * size)
            time.sleep(_PAUSE)
        filler.unlink()
        self.done["times the disk was full"] += 1

    def empty_done(self) -> None:
        """As an operator does."""
        for path in self.landing.glob(f"events/{DONE}/*"):
            path.unlink(missing_ok=True)

    def stop(self) -> None:
        self.process.send(signal.SIGTERM)
        assert self.process.wait(PATIENCE_SECONDS) == 0
        self._stack.close()


class Client(Thread):
    """A place from which visitors send; it has an address of its own."""

    def __init__(
        self, number: int, collecting: Collecting, keys: dict[str, str], ends: Event
    ) -> None:
        super().__init__(daemon=True)
        self._collecting, self._keys, self._ends = collecting, keys, ends
        self._number = number
        self._source = (f"127.0.{1 + number // 200}.{1 + number % 200}", 0)
        self._connection: http.client.HTTPConnection | None = None
        self.requests: list[Answered] = []
        self.longest = 0.0
        """Seconds until the events that had to wait longest were answered 200."""
        self.taken: Counter[tuple[str, str]] = Counter()
        """Events that were answered 200, by shop and name."""

    def run(self) -> None:
        chance, visitor = random.Random(self._number), 0
        while not self._ends.is_set():
            visitor += 1
            shop_id = chance.choice(SHOPS)
            events = [event for event, share in _EVENTS.items() if chance.random() < share]
            body = _body(self._keys[shop_id], f"{self._number}-{visitor}", events)
            began = time.monotonic()
            self._send_until_answered(body)
            self.longest = max(self.longest, time.monotonic() - began)
            self.taken.update((shop_id, event) for event in events)
            if chance.random() < _REPEATS:
                self._send(body)

    def _send_until_answered(self, body: bytes) -> None:
        while (status := self._send(body)) != 200:
            assert status in (0, 503), f"answered with {status}"
            time.sleep(0.1)

    def _send(self, body: bytes) -> int:
        began = time.perf_counter()
        try:
            status = self._ask(body)
        except (OSError, http.client.HTTPException):
            self._connection, status = None, 0
        self.requests.append(Answered(time.monotonic(), status, time.perf_counter() - began))
        return status

    def _ask(self, body: bytes) -> int:
        if self._connection is None:
            self._connection = http.client.HTTPConnection(
                "127.0.0.1", self._collecting.port, timeout=60, source_address=self._source
            )
        self._connection.request("POST", "/v1/b", body, {"Content-Type": "text/plain"})
        answer = self._connection.getresponse()
        answer.read()
        return answer.status


def _created_key(url: str, shop_id: str) -> str:
    created = run_web(url, "write-keys", "create", "--shop", shop_id)
    assert created.status == 0, created.errors
    return created.output.splitlines()[-1]


def _body(key: str, visitor: str, events: list[str]) -> bytes:
    now = datetime.now(UTC).isoformat()
    properties = {"form_id": FORM, "form_session_id": visitor}
    calls = [
        {
            "type": "track",
            "event": event,
            "messageId": f"{visitor} {event}",
            "anonymousId": visitor,
            "timestamp": now,
            "properties": properties,
        }
        for event in events
    ]
    return json.dumps({"batch": calls, "writeKey": key, "sentAt": now}).encode()


def load(
    collecting: Collecting,
    clients: list[Client],
    ends: Event,
    faults: list[Callable[[], None]],
    seconds: float,
) -> float:
    """Let the clients send for so long; when the first fault came."""
    began = time.monotonic()
    for client in clients:
        client.start()
    time.sleep(seconds / 4)
    disturbed = time.monotonic()
    for number, fault in enumerate(cycle(faults)):
        # Each of them once at least, however slow the machine is.
        if number >= len(faults) and time.monotonic() >= began + seconds:
            break
        fault()
        collecting.empty_done()
        time.sleep(_PAUSE)
    ends.set()
    for client in clients:
        while client.is_alive():
            collecting.empty_done()
            client.join(1)
    return disturbed


def differences(product: Product, clients: list[Client]) -> list[str]:
    """The differences of the answers from what was answered 200."""
    taken = sum((client.taken for client in clients), Counter[tuple[str, str]]())
    wrong = []
    for shop_id in SHOPS:
        status, answer = product.get(f"/v1/forms/{FORM}/funnel", {"range": "7d"}, shop_id)
        assert status == 200, answer
        for event, figure in zip(_EVENTS, _FIGURES, strict=True):
            sent, counted = taken[shop_id, event], answer["data"][figure]
            if sent != counted:
                wrong.append(f"{shop_id} {figure}: {counted} counted, {sent} answered 200")
    return wrong


def describe(name: str, requests: list[Answered], seconds: float) -> str:
    times = sorted(request.seconds * 1_000 for request in requests if request.status == 200)
    others = Counter(request.status for request in requests if request.status != 200)
    refused = f"{others[503]} answered 503, {others[0]} without an answer"
    p50, p99 = times[len(times) // 2], times[int(len(times) * 0.99)]
    return (
        f"{name}: {len(times) / seconds:.0f} requests/s answered 200 (p50 {p50:.0f} ms, "
        f"p99 {p99:.0f} ms), {refused}"
    )


@click.command()
@click.option("--seconds", default=60.0)
@click.option("--clients", "count", default=100)
@click.option("--seed", default=1)
def main(seconds: float, count: int, seed: int) -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        landing, is_small = folder / "landing", True
        try:
            stack.enter_context(small_disk(landing, DISK_MB))
        except NoSmallDisk as error:
            is_small = False
            click.echo(f"The disk is never full: a small one cannot be mounted ({error}).")
        product = Product(f"sqlite:///{folder / 'warehouse.db'}")
        product.load("shops", [{"shop_id": shop_id, "currency": "EUR"} for shop_id in SHOPS])
        product.load("forms", [form(shop_id=shop_id) for shop_id in SHOPS])
        keys = {shop_id: _created_key(product.url, shop_id) for shop_id in SHOPS}
        settings = {
            "WAREHOUSE_URL": product.url,
            "IMPORT_DIR": str(landing),
            "LANDING_POLL_SECONDS": "2",
            "REFRESH_MINUTES": "1",
        }
        command = [sys.executable, "-m", "jobs"]
        said = stack.enter_context((folder / "scheduler.log").open("w"))
        scheduler = stack.enter_context(
            subprocess.Popen([*command, "scheduler"], env={**os.environ, **settings}, stderr=said)
        )
        stack.callback(scheduler.terminate)

        collecting, ends = Collecting(product.url, landing, random.Random(seed)), Event()
        clients = [Client(number, collecting, keys, ends) for number in range(count)]
        faults = [collecting.kill_worker, collecting.kill_all]
        faults += [collecting.fill_disk] if is_small else []
        began = time.monotonic()
        disturbed = load(collecting, clients, ends, faults, seconds)
        ended = time.monotonic()
        collecting.stop()
        scheduler.terminate()
        scheduler.wait(PATIENCE_SECONDS)
        assert files_of(landing, growing=True) == []
        subprocess.run([*command, "landing"], env={**os.environ, **settings}, check=True)
        product.rollup()
        wrong = differences(product, clients)
        product.close()
    requests = [request for client in clients for request in client.requests]
    before = [request for request in requests if request.at < disturbed]
    after = [request for request in requests if request.at >= disturbed]
    events = sum(sum(client.taken.values()) for client in clients)
    click.echo(f"{count} clients, {ended - began:.0f} s, {events} events answered 200")
    click.echo(describe("undisturbed", before, disturbed - began))
    click.echo(describe("with faults", after, ended - disturbed))
    click.echo(f"longest wait for a 200: {max(client.longest for client in clients):.1f} s")
    click.echo(", ".join(f"{what} {number}" for what, number in collecting.done.items()))
    for line in wrong:
        click.echo(f"wrong: {line}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

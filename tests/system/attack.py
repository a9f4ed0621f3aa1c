"""`python -m tests.system.attack [--seconds 10] [--database sqlite] [NAME ...]`: attacks on a real server,
and what another tenant sees of them. The database: `sqlite`, `postgresql`, or `pgbouncer` before PostgreSQL.

Each attack runs in a process of its own, for so many seconds, from addresses of the loopback interface.
Beside it another tenant does one thing again and again, each time on a new connection; before, the same while
all is calm. It fails where that tenant is refused, or gets no answer. Times are printed, not judged: they
depend on the machine. A new attack is a function in `attackers.py`, and a line in ATTACKS.
"""

import itertools
import json
import multiprocessing
import os
import re
import signal
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from multiprocessing.synchronize import Event
from pathlib import Path

import click

from tests.support import postgres
from tests.support.commands import Command, run, run_web
from tests.support.oracle.making import FORM as POISONED
from tests.support.oracle.making import MARCH, answered, submission
from tests.support.people import ACCOUNT, PASSWORD, SIGN_IN, add_member
from tests.support.pgbouncer import pgbouncer
from tests.support.serving import DEFAULT_LIMITS, collected, served
from tests.support.shop_builder import ShopBuilder
from tests.system.attackers import (
    FORM,
    LOST_SECONDS,
    Target,
    ask,
    endless_events,
    endless_sign_ins,
    files_without_a_sign_in,
    full_batches,
    hard_passwords,
    hard_passwords_at_once,
    idle_connections,
    large_answers,
    long_methods,
    made_up_agents,
    made_up_forms,
    made_up_sign_ins,
    many_languages,
    poisoned_answers,
    sign_in,
    twelve_networks_with_events,
    twelve_networks_with_nothing,
)
from warehouse.connections.engine import open_engine
from warehouse.domain.vocabulary import MOST_CHOICES, MOST_QUESTIONS
from warehouse.migrations.migrate import migrate

DATABASES = ("sqlite", "postgresql", "pgbouncer")
# Between two probes: they are no load of their own.
PAUSE_SECONDS = 0.02


@dataclass
class Seen:
    """Answers that the other tenant saw: statuses (0 without an answer), and seconds until each answer."""

    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        ordered = sorted(self.seconds)
        median, p99 = (ordered[int(len(ordered) * share)] for share in (0.5, 0.99))
        statuses = ", ".join(
            f"{status or 'lost'}: {n}" for status, n in sorted(self.statuses.items())
        )
        return f"p50 {median * 1000:5.0f} ms, p99 {p99 * 1000:5.0f} ms   {statuses}"


def creates_a_form(target: Target, _number: int) -> int:
    headers = {"Authorization": f"Bearer {target.key}", "Content_Type": "application/json"}
    return ask(target.port, "POST", "/v1/forms", '{"name": "x", "schema": {}}', **headers)[0]


def reads_figures(target: Target, _number: int) -> int:
    path = "/v1/attribution/daily?range=30d"
    return ask(target.port, "GET", path, Authorization=f"Bearer {target.key}")[0]


_SIGN_INS = itertools.count()


def signs_in(target: Target, _number: int) -> int:
    # An account has ten attempts from one network: those of all attacks and of the calm before them count.
    network = f"127.0.1.{next(_SIGN_INS) // 10 + 1}"
    return sign_in(target.port, "bea@example.com", PASSWORD, network)[0]


@cache
def _member(port: int) -> tuple[str, str]:
    """The cookie of a member of the other tenant, and the token of their forms."""
    _, cookie = sign_in(port, "bea@example.com", PASSWORD, "127.0.2.1")
    # The token of the forms is in the cookie that comes with the first of them.
    _, page, newer = ask(port, "GET", ACCOUNT, Cookie=cookie)
    found = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', page)
    assert found, page
    return newer or cookie, found[1]


def drops_a_file(target: Target, number: int) -> int:
    cookie, token = _member(target.port)
    sent = (
        f'--B\r\nContent-Disposition: form-data; name="csrf_token"\r\n\r\n{token}\r\n'
        f'--B\r\nContent-Disposition: form-data; name="file"; filename="{number}.csv"\r\n\r\na\r\n--B--\r\n'
    )
    kind = "multipart/form-data; boundary=B"
    return ask(target.port, "POST", "/data/drop", sent, Cookie=cookie, Content_Type=kind)[0]


def looks_at_forms(target: Target, _number: int) -> int:
    cookie, _ = _member(target.port)
    return ask(target.port, "GET", "/setup/forms", Cookie=cookie, Accept="text/html")[0]


def asks_for_health(target: Target, _number: int) -> int:
    return ask(target.port, "GET", "/healthz")[0]


def sends_an_event(target: Target, number: int) -> int:
    event = {
        "event": "Form Viewed",
        "writeKey": target.write_key,
        "messageId": str(number),
        "anonymousId": "v",
        "properties": {"form_id": "f", "form_session_id": str(number)},
    }
    sent = json.dumps(event)
    return ask(target.collector, "POST", "/v1/track", sent, Content_Type="application/json")[0]


Attack = Callable[[Target, Event], None]
Probe = Callable[[Target, int], int]

ATTACKS: Sequence[tuple[Attack, Probe, int]] = (
    (hard_passwords, creates_a_form, 201),
    (hard_passwords_at_once, creates_a_form, 201),
    (made_up_sign_ins, signs_in, 302),
    (idle_connections, asks_for_health, 200),
    (endless_events, sends_an_event, 200),
    (full_batches, sends_an_event, 200),
    (made_up_agents, sends_an_event, 200),
    (twelve_networks_with_nothing, sends_an_event, 200),
    (twelve_networks_with_events, sends_an_event, 200),
    (endless_sign_ins, signs_in, 302),
    (files_without_a_sign_in, drops_a_file, 303),
    (many_languages, reads_figures, 200),
    (long_methods, asks_for_health, 200),
    (poisoned_answers, reads_figures, 200),
    (large_answers, reads_figures, 200),
    (made_up_forms, looks_at_forms, 200),
)
# Bodies that never end are refused after 15 s: until then two senders may have all turns of the collector.
SETTLES_AFTER: Mapping[Attack, float] = {endless_events: 20}
# An account has 100 attempts to sign in an hour, and four such times share them.
MOST_TRIES: Mapping[Probe, int] = {signs_in: 20}


def watch(target: Target, probe: Probe, seconds: float) -> Seen:
    """Ask as the other tenant for so long."""
    seen = Seen()
    until = time.monotonic() + seconds
    pause = max(PAUSE_SECONDS, seconds / MOST_TRIES[probe] if probe in MOST_TRIES else 0)
    # At least once, however long it takes.
    while not seen.seconds or time.monotonic() < until:
        began = time.monotonic()
        seen.statuses[probe(target, seen.statuses.total())] += 1
        seen.seconds.append(time.monotonic() - began)
        time.sleep(pause)
    return seen


def compare(target: Target, attack: Attack, probe: Probe, seconds: float) -> tuple[Seen, Seen]:
    """Ask as the other tenant while all is calm, and beside an attack."""
    calm = watch(target, probe, seconds)
    context = multiprocessing.get_context("fork")
    stop = context.Event()
    attacker = context.Process(target=attack, args=(target, stop), daemon=True)
    attacker.start()
    try:
        time.sleep(SETTLES_AFTER.get(attack, 2))
        beside = watch(target, probe, seconds)
        assert attacker.is_alive(), "the attack ended early"
        return calm, beside
    finally:
        stop.set()
        attacker.join(LOST_SECONDS)
        attacker.kill()


def malformed_forms(target: Target) -> Counter[int]:
    """The statuses of 240 forms whose chunks are malformed or break off, 12 at once."""
    head = f"POST {SIGN_IN} HTTP/1.1\r\nHost: x\r\nContent-Type: {FORM}\r\nTransfer-Encoding: chunked\r\n\r\n"
    bodies = (b"", b"zz\r\n", b"1\r\nab\r\n0\r\n\r\n", b"fff\r\na=b", b"3\r\na=b\r\n", b"-2\r\n")

    def send(body: bytes) -> int:
        with socket.create_connection(("127.0.0.1", target.port), LOST_SECONDS) as client:
            client.sendall(head.encode() + body)
            client.shutdown(socket.SHUT_WR)
            answer = client.recv(65_536)
        return int(answer[9:12] or 0)

    with ThreadPoolExecutor(12) as clients:
        return Counter(clients.map(send, bodies * 40))


def seconds_to_end(target: Target, ended: Callable[[], object]) -> float:
    """How long a server takes to end after SIGTERM, beside 300 heads that never end."""
    with ExitStack() as opened:
        for number in range(300):
            client = opened.enter_context(socket.socket())
            client.bind((f"127.0.0.{70 + number // 50}", 0))
            client.connect(("127.0.0.1", target.port))
            client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX")
        asks_for_health(target, 0)
        began = time.monotonic()
        os.kill(target.server, signal.SIGTERM)
        ended()
        return time.monotonic() - began


@contextmanager
def warehouse(kind: str, folder: Path) -> Iterator[tuple[str, str]]:
    """The URLs of a new warehouse on a kind of database: for jobs, and for servers."""
    with ExitStack() as stack:
        url = f"sqlite:///{folder / 'warehouse.db'}"
        if kind != "sqlite":
            server = postgres.server_url(f"attack{os.getpid()}")
            url = stack.enter_context(postgres.new_database(server))
        migrate(engine := open_engine(url))
        engine.dispose()
        served_url = url
        if kind == "pgbouncer":
            through = stack.enter_context(
                pgbouncer(url, default_pool_size=20, query_wait_timeout=5)
            )
            through = through.update_query_dict({"prepare_threshold": "None"})
            served_url = through.render_as_string(hide_password=False)
        yield url, served_url


@contextmanager
def attacked(folder: Path, kind: str = "sqlite") -> Iterator[tuple[Target, Command]]:
    """A server and a collector over two shops, and what waits for the server's end."""
    with warehouse(kind, folder) as urls, _attacked(folder, *urls) as started:
        yield started


@contextmanager
def _attacked(folder: Path, url: str, served_url: str) -> Iterator[tuple[Target, Command]]:
    engine = open_engine(url)
    own, other = ShopBuilder(engine, "eve.example"), ShopBuilder(engine, "bea.example")
    add_member(engine, own, "eve@example.com", ())
    add_member(engine, other, "bea@example.com")
    key, own_key = other.mint(), own.mint()
    engine.dispose()
    created = run_web(url, "write-keys", "create", "--shop", "bea.example", "--name", "site").output
    found = re.search(r"fwk_\w+", created)
    assert found, created
    poisoned = _poison(folder, url)
    settings = {
        "FORMS_PER_SHOP": "1000000",
        "FORM_BYTES_PER_SHOP": "1000000000",
        "IMPORT_DIR": str(folder / "dropped"),
    }
    with (
        served(served_url, settings) as (process, port),
        collected(served_url, folder / "landing", DEFAULT_LIMITS) as (_, collector),
    ):
        target = Target(port, collector, process.pid, key, found[0], poisoned, own_key)
        while sends_an_event(target, 0) != 200:
            time.sleep(0.1)
        yield target, process


def _poison(folder: Path, url: str) -> str:
    """Import answers of a form, to as many questions and with as many choices as a session may have; returns
    the address of pairs of them."""
    shop, choices = "eve.example", [str(n) for n in range(MOST_CHOICES)]
    rows: list[dict[str, object]] = []
    for session in ("one", "two", "three"):
        rows.append(submission(session, "2"))
        for number in range(MOST_QUESTIONS):
            rows.append(answered(session, "1", f"q{number:03}", choices, "multi_choice"))
    events, forms = folder / "events.ndjson", folder / "forms.ndjson"
    events.write_text("".join(json.dumps(row | {"shop_id": shop}) + "\n" for row in rows))
    forms.write_text(json.dumps({"form_id": POISONED, "shop_id": shop, "name": "Form"}))
    warehouse_url = {"WAREHOUSE_URL": url}
    for words in (("import", "forms", str(forms)), ("import", "events", str(events)), ("rollup",)):
        run("jobs", *words, settings=warehouse_url).finish()
    return f"/v1/forms/{POISONED}/cross-field?fieldA=q000&fieldB=q001&range={MARCH}"


@click.command()
@click.argument("names", nargs=-1)
@click.option("--seconds", default=10.0, help="of each attack, and before it")
@click.option("--database", type=click.Choice(DATABASES), default="sqlite")
def main(names: tuple[str, ...], seconds: float, database: str) -> None:
    refused = []
    with (
        tempfile.TemporaryDirectory() as folder,
        attacked(Path(folder), database) as (target, server),
    ):
        for attack, probe, expected in ATTACKS:
            name = attack.__name__
            if names and name not in names:
                continue
            calm, beside = compare(target, attack, probe, seconds)
            click.echo(f"{name}: another tenant {probe.__name__}")
            click.echo(f"  calm    {calm}")
            click.echo(f"  beside  {beside}")
            if set(beside.statuses) != {expected}:
                refused.append(name)
        if not names or "malformed_forms" in names:
            statuses = malformed_forms(target)
            click.echo(f"malformed_forms: {dict(statuses)}")
            if set(statuses) != {400}:
                refused.append("malformed_forms")
        longest = max(map(len, server.printed.splitlines()))
        click.echo(f"the longest line of the log has {longest} characters")
        if not names or "seconds_to_end" in names:
            click.echo(f"ended {seconds_to_end(target, server.wait):.1f} s after SIGTERM")
    click.echo(f"refused: {', '.join(refused) or 'nobody'}")
    sys.exit(bool(refused))


if __name__ == "__main__":
    main()

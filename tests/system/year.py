"""`python -m tests.system.year --shops 5 --days 365`: a year of an installation, by a clock that is set.

Each day has events, orders and spend of every shop, some late and one that is rejected; a member who signs
in and mistypes before; a program that reads; and the whole schedule, each job when it is due. Each month an
import is undone, a person forgotten and a key rotated. A shop comes, and one leaves. No night may need a
person. Prints what grew, in rows, files and megabytes: in the end nothing may have grown but what data make,
no faster than they came. Memory grows for months: the API keeps answers, up to a bound
(`web/db/shop_cache.py`).
"""

import os
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any, Final
from uuid import NAMESPACE_DNS, uuid5

import click
import psutil
import pytest
from click.testing import CliRunner

import web.cli
from jobs.scheduler.schedule import Job, schedule
from jobs.scheduler.scheduler_heartbeat import SchedulerHeartbeat
from tests.support import people
from tests.support.import_files import Row, as_ndjson, spend
from tests.support.job_commands import Commands
from tests.support.shop_builder import known_shop
from warehouse.connections import arrow
from warehouse.connections.arrow import open_arrow
from warehouse.connections.engine import open_engine
from warehouse.domain.landing_names import COLLECTED, DONE, PULLED
from warehouse.domain.time import to_micros
from warehouse.editions import pending_batches
from warehouse.migrations.migrate import open_migrated
from warehouse.operations import conditions
from warehouse.operations.schedulers import record_heartbeat
from warehouse.tables.base import metadata
from web.app import close_app, create_app
from web.auth import passwords
from web.http import request_log
from web.http.services import services_of

# Data make these grow: raw rows that stay, what is derived of them, and the names in them.
GROWS: Final = {
    *(name for name in metadata.tables if name.startswith(("daily_", "fact_", "dim_"))),
    *(
        "raw_order",
        "kept_facts",
        "kept_key",
        "code_usage",
        "ad_spend",
        "forgotten",
        "api_key",
        "deleted_shop",
    ),
}
_REFRESH_MINUTES: Final = 720
_SESSION: Final = ("view", "start", "answer", "subscribe", "complete")


class Clock:
    """The present instant, for jobs and for the API."""

    now: datetime

    def __call__(self) -> int:
        return to_micros(self.now)

    @contextmanager
    def everywhere(self) -> Iterator[None]:
        """Have all of the product ask this clock."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("warehouse.domain.time.time_ns", lambda: self() * 1000)
            for connection in (arrow.SqliteConnection, arrow.PostgresConnection):
                patch.setattr(connection, "now_micros", lambda _: self())
            yield


@dataclass(frozen=True)
class Sample:
    """The sizes of a day. `rows`: by table."""

    day: int
    rows: dict[str, int]
    files: int
    megabytes: float
    memory: float


class Year:
    """`events`: of a shop in a day. `keep`: the days after which all is purged that is."""

    def __init__(
        self, url: str, folder: Path, *, shops: int, days: int, events: int, keep: int
    ) -> None:
        self.days, self.events, self.keep = days, events, keep
        self.rng, self.numbers = random.Random(days), count(1)
        self.first = datetime.combine(datetime.now(UTC), time(), UTC) - timedelta(days)
        self.clock = Clock()
        self.clock.now = self.first
        self.commands = Commands(url, folder)
        self.commands.settings |= {
            "REFRESH_MINUTES": f"{_REFRESH_MINUTES}",
            "LANDING_POLL_SECONDS": "3600",
            "BACKUP_CRON": "15 1 * * *",
            "BACKUP_KEEP": "3",
            "NIGHTLY_CRON": "15 2 * * *",
            "PURGE_CRON": "45 3 * * *",
            # It takes as long as all else of a day; in the end everything is verified.
            "VERIFY_CRON": "15 4 * * 0",
            **{
                f"{name}_DAYS": f"{keep}"
                for name in ("RAW", "REJECTS", "IMPORTS", "RUNS", "AUDIT", "LANDED")
            },
        }
        self.shops = [f"shop-{number}.example" for number in range(shops)]
        self.visitors = dict.fromkeys(self.shops, 0)

    def run(self, every: int) -> Iterator[Sample]:
        """Live through all days; a sample after each so many."""
        with self.clock.everywhere(), pytest.MonkeyPatch.context() as patch:
            patch.setattr(passwords, "_hasher", people.CHEAP)
            # A few days show then that the queue is kept short.
            patch.setattr(pending_batches, "_MIN_COMPACTED", 10)
            # Each request's line would be between ours.
            patch.setattr(request_log, "_write", lambda _: None)
            with open_migrated(self.commands.url):
                pass
            self._begin(self.shops)
            self.app = create_app(self.commands.url, self.clock)
            engine = open_engine(self.commands.url)
            people.add_member(engine, known_shop(engine, self.shops[0]), now=self.clock())
            engine.dispose()
            scopes = "analytics:read,forms:write"
            self.key = self.web("keys", "mint", "--shop", self.shops[0], "--scopes", scopes)
            for day in range(self.days):
                self._live(day)
                if day % every == every - 1 or day == self.days - 1:
                    yield self._sample(day + 1)
            self.commands("verify", "--all")
            close_app(self.app)

    def _begin(self, shops: Sequence[str]) -> None:
        self.commands.take("shops", [{"shop_id": shop, "currency": "EUR"} for shop in shops])
        self.commands.take(
            "forms", [{"form_id": form_of(shop), "shop_id": shop, "name": "Quiz"} for shop in shops]
        )

    def _live(self, day: int) -> None:
        """A day: its schedule, what lands in it, and who comes."""
        if day == self.days * 2 // 5:
            self.shops.append("shop-new.example")
            self.visitors["shop-new.example"] = 0
            self._begin(self.shops[-1:])
        if day == self.days * 3 // 5:
            gone = self.shops.pop(1)
            self.web("shops", "delete", gone, "--yes")
        todo: list[tuple[datetime, str, Callable[[], object]]] = [
            (self._at(day, hours=10), "", partial(self._land, day)),
            (self._at(day, hours=12), "", self._visit),
            (self._at(day, hours=23, minutes=30), "", self._require_calm),
        ]
        if day % 30 == min(29, self.days // 2):
            todo.append((self._at(day, hours=20), "", self._manage))
        for job in self._schedule():
            todo += [(due, job.name, partial(self._run, job)) for due in due_on(job, self._at(day))]
        for self.clock.now, _, act in sorted(todo, key=lambda one: one[:2]):
            act()

    def _at(self, day: int, **later: int) -> datetime:
        return self.first + timedelta(day, **later)

    def _schedule(self) -> list[Job]:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.commands.settings.items():
                patch.setenv(name, value)
            # Nobody drops a file on a page here.
            return [job for job in schedule() if job.name != "dropped"]

    def _run(self, job: Job) -> None:
        if job.name == "landing" and not any(self.commands.landing.glob("*/*.ndjson")):
            return
        self.commands("run", job.name)
        # Its files are as old as this clock says.
        for file in self.commands.landing.glob(f"*/{DONE}/*"):
            if file.stat().st_mtime > self.clock.now.timestamp():
                self._date(file)

    def _date(self, file: Path) -> None:
        instant = self.clock.now.timestamp()
        os.utime(file, (instant, instant))

    def _land(self, day: int) -> None:
        events = [row for shop in self.shops for row in self._events_of(shop, day)]
        orders = [row for shop in self.shops for row in self._orders_of(shop, day)]
        orders.append(orders[0] | {"order_id": f"bad-{day}", "total_cents": -1})
        spends = [
            spend(shop_id=shop, date=f"{self._at(day - back).date()}", spend=f"{day}")
            for shop in self.shops
            for back in range(3)
        ]
        stamp = self.clock.now.strftime("%Y%m%dT%H%M%S")
        for kind, name, rows in (
            ("events", f"{COLLECTED}{stamp}Z-{day:016x}.ndjson", events),
            ("orders", f"{PULLED}shop~{stamp}000000Z.ndjson", orders),
            ("ad-spend", f"{PULLED}ads~{stamp}000000Z.ndjson", spends),
        ):
            self._date(self.commands.land(kind, name, as_ndjson(rows)))

    def _events_of(self, shop: str, day: int) -> Iterator[Row]:
        for number in range(self.events // len(_SESSION)):
            is_new = not self.visitors[shop] or self.rng.random() < 0.7
            self.visitors[shop] += is_new
            visitor = self.visitors[shop] if is_new else self.rng.randint(1, self.visitors[shop])
            # One of fifty comes late, by up to some days.
            late = self.rng.randrange(self.keep) if number % 50 == 0 else 0
            start = self._at(max(day - late, 0), hours=1) + number * timedelta(minutes=2)
            session = f"s{next(self.numbers)}"
            for step, name in enumerate(_SESSION):
                row = {
                    "event_id": f"{session}-{step}",
                    "shop_id": shop,
                    "form_id": form_of(shop),
                    "form_session_id": session,
                    "visitor_id": f"v{visitor}",
                    "type": name,
                    "occurred_at": (start + step * timedelta(seconds=9)).isoformat(),
                    "utm_source": "meta",
                    "utm_campaign": f"c{number % 3}",
                }
                if name == "answer":
                    row |= {"field_id": "skin", "field_type": "choice", "value": f"{number % 4}"}
                if name == "subscribe":
                    row |= {"email": f"p{visitor}@mail.example", "discount_code": "WELCOME"}
                yield row

    def _orders_of(self, shop: str, day: int) -> Iterator[Row]:
        for number in range(max(self.events // 50, 1)):
            visitor = self.rng.randint(1, self.visitors[shop])
            created = self._at(day, hours=3) + number * timedelta(minutes=7)
            order = {
                "order_id": f"o{day}-{number}",
                "shop_id": shop,
                "created_at": created.isoformat(),
                "total_cents": 1000 + self.rng.randrange(9000),
                "email": f"p{visitor}@mail.example",
            }
            yield order
            if number % 4 == 0 and day > self.keep:
                # A refund of one that is older than all that is purged.
                old = self._at(day - self.keep, hours=3) + number * timedelta(minutes=7)
                refund = {"refund_id": "r1", "created_at": created.isoformat(), "amount_cents": 100}
                yield order | {
                    "order_id": f"o{day - self.keep}-{number}",
                    "created_at": old.isoformat(),
                    "updated_at": created.isoformat(),
                    "refunds": [refund],
                }

    def _visit(self) -> None:
        """A member looks, who mistypes the password before, and a program reads and replaces a draft."""
        browser = people.Browser(self.app.test_client())
        assert browser.sign_in(password="mistyped").status_code == 403
        page = browser.signed_in().get("/", headers={"Accept": "text/html"})
        assert page.status_code == 200
        for path in ("/v1/forms/funnel?range=30d", "/v1/attribution", "/v1/revenue/by-form"):
            self._ask("GET", path)
        self._ask("PUT", f"/v1/forms/{form_of(self.shops[0])}", json={"draft_schema": {}})
        self._let_go()

    def _ask(self, method: str, path: str, **options: Any) -> None:
        client = self.app.test_client()
        headers = {"Authorization": f"Bearer {self.key}", "Idempotency-Key": f"{self.clock.now}"}
        answer = client.open(path, method=method, headers=headers, **options)
        assert answer.status_code in (200, 201), answer.get_data(as_text=True)

    def _let_go(self) -> None:
        """Leave the warehouse to the jobs: in operation they have processes of their own."""
        services = services_of(self.app)
        services.background_writes.settle()
        services.database.close()

    def _manage(self) -> None:
        """Do what an operator, and a program, does each month."""
        (last,) = self.commands.rows("SELECT MAX(import_id) FROM import_file WHERE kind = 'orders'")
        self.commands("imports", "undo", f"{last}")
        person = f"p{self.clock.now.day}@mail.example"
        self.commands("forget", "--shop", self.shops[0], "--email", person)
        credential = f"SELECT MAX(credential_id) FROM api_key WHERE expires_at > {self.clock()}"
        self.key = self.web("keys", "rotate", *self.commands.rows(credential), "--old-works", "now")
        self._ask("POST", "/v1/forms", json={"name": "Another", "schema": {}})
        self._let_go()

    def web(self, *words: str) -> str:
        """`python -m web`; its last line."""
        done = CliRunner().invoke(
            web.cli.main, words, env=self.commands.settings, catch_exceptions=False
        )
        assert done.exit_code == 0, done.output
        return done.stdout.splitlines()[-1]

    def _require_calm(self) -> None:
        """The scheduler is alive, and nothing needs a person; a full disk of this machine does not count."""
        url = self.commands.url
        signs = SchedulerHeartbeat(url, self.commands.landing, self._schedule, Lock())
        with open_arrow(url) as connection:
            record_heartbeat(connection, signs._record(connection))
            found = conditions.find(
                lambda sql: connection.table(sql).to_pylist(), self.clock(), _REFRESH_MINUTES
            )
        needs = [one.message for one in found if one.condition != conditions.DISK_LOW]
        assert not needs, f"{self.clock.now}: {needs}"

    def _sample(self, day: int) -> Sample:
        rows = {
            name: int(self.commands.rows(f"SELECT COUNT(*) FROM {name}")[0])
            for name in sorted(metadata.tables)
        }
        places = (self.commands.landing, self.commands.backups)
        files = [file for place in places for file in place.rglob("*") if file.is_file()]
        database = Path(self.commands.url.removeprefix("sqlite:///"))
        size = database.stat().st_size / 1e6 if database.exists() else 0.0
        return Sample(day, rows, len(files), size, psutil.Process().memory_info().rss / 1e6)


def form_of(shop: str) -> str:
    return str(uuid5(NAMESPACE_DNS, shop))


def due_on(job: Job, day: datetime) -> Iterator[datetime]:
    """When a job is due on the day that begins so."""
    due = job.next_time(day)
    while due is not None and due < day + timedelta(1):
        yield due.astimezone(UTC)
        due = job.next_time(due + timedelta(seconds=1))


def grown(samples: Sequence[Sample], keep: int) -> list[str]:
    """Sizes that have grown and should not have. All that is purged has its full size soon after `keep`
    days."""
    full = [sample for sample in samples if sample.day > keep + 2]
    half = full[0].day + (full[-1].day - full[0].day) // 2
    before = [sample for sample in full if sample.day <= half]
    after = [sample for sample in full if sample.day > half]
    found = []
    for name in metadata.tables:
        earlier, later = (max(one.rows[name] for one in part) for part in (before, after))
        # As many data come each day.
        most = earlier * (after[-1].day / before[-1].day if name in GROWS else 1)
        if later > 1.2 * most + 20:
            found.append(f"{name}: {earlier} rows by day {half}, {later} by day {after[-1].day}")
    earlier, later = (max(one.files for one in part) for part in (before, after))
    if later > 1.1 * earlier + 5:
        found.append(f"files: {earlier} by day {half}, {later} by day {after[-1].day}")
    memory, more = (max(one.memory for one in part) for part in (before, after))
    if more > 1.2 * memory + 50:
        found.append(f"memory: {memory:.0f} MB by day {half}, {more:.0f} by day {after[-1].day}")
    return found


@click.command(help=__doc__)
@click.option("--shops", type=click.IntRange(min=2), default=50, show_default=True)
@click.option("--days", type=click.IntRange(min=20), default=365, show_default=True)
@click.option("--events", type=click.IntRange(min=50), default=200, show_default=True)
@click.option("--keep", type=click.IntRange(min=5), default=30, show_default=True)
def main(shops: int, days: int, events: int, keep: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        year = Year(
            f"sqlite:///{folder}/year.db",
            Path(folder),
            shops=shops,
            days=days,
            events=events,
            keep=keep,
        )
        samples = []
        for sample in year.run(max(days // 24, 1)):
            samples.append(sample)
            bounded = sum(rows for name, rows in sample.rows.items() if name not in GROWS)
            click.echo(
                f"day {sample.day:4}: {bounded:9,} rows that are purged, "
                f"{sum(sample.rows.values()) - bounded:11,} that stay, {sample.files:5,} files, "
                f"{sample.megabytes:7,.1f} MB of warehouse, {sample.memory:6,.0f} MB of memory"
            )
    for name in sorted(metadata.tables):
        rows = [sample.rows[name] for sample in samples]
        if max(rows):
            click.echo(
                f"{name:24} {'stays' if name in GROWS else '':6} {rows[:: max(len(rows) // 8, 1)]}"
            )
    if found := grown(samples, keep):
        raise click.ClickException("; ".join(found))


if __name__ == "__main__":
    main()

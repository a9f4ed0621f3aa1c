"""Two shops in one warehouse, each seen by a member of its own."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from click.testing import CliRunner
from flask import Flask
from sqlalchemy import Engine, text

from jobs.cli import main
from tests.support import commands
from tests.support.commands import Command
from tests.support.import_files import FORM, account, as_ndjson, event, form, order, spend
from tests.support.people import Browser
from tests.support.shop_builder import writing
from tests.web.dashboard.page_text import Section, sections
from warehouse.connections.arrow import open_arrow
from warehouse.domain.time import from_micros
from warehouse.operations.schedulers import SchedulerRecord, record_heartbeat
from web.dashboard import formatting
from web.http.services import services_of

A, B = "a.example", "b.example"
ZONES = {A: "Europe/Berlin", B: "UTC"}
UNKNOWN = "8f0e0000-0000-4000-8000-00000000000a"
HTML = {"Accept": "text/html", "Accept-Language": "en"}
PATH = "/data"


NOW = datetime.now(UTC)
EARLIER = NOW - timedelta(hours=2)


@dataclass
class TwoShops:
    """A warehouse with two shops, and a browser of a member of each."""

    url: str
    folder: Path
    engine: Engine
    app: Flask
    browsers: dict[str, Browser] = field(default_factory=dict)

    def page(self, shop: str, path: str = PATH, **headers: str) -> str:
        answer = self.browsers[shop].get(path, headers=HTML | headers)
        assert answer.status_code == 200
        return answer.get_data(as_text=True)

    def section(self, shop: str, heading: str) -> Section:
        return sections(self.page(shop))[heading]

    def load(self, kind: str, rows: list[Any]) -> None:
        self.take(kind, as_ndjson(rows))

    def take(self, kind: str, lines: bytes) -> None:
        self._let_go()
        take(self.url, kind, lines)

    def jobs(self, *words: str) -> None:
        self._let_go()
        run(self.url, *words)

    def start(self, *words: str, before: Callable[[], object] | None = None) -> Command:
        """A command of jobs in a process of its own, which calls `before` first."""
        self._let_go()
        settings = {"WAREHOUSE_URL": self.url}
        return commands.start("jobs", *words, settings=settings, before=before)

    def show_scheduler(self, record: SchedulerRecord) -> None:
        self._let_go()
        with open_arrow(self.url) as connection:
            record_heartbeat(connection, record)

    def _let_go(self) -> None:
        """SQLite refuses a command while this process has connections of the API."""
        services = services_of(self.app)
        # The thread of these writes would open the database again.
        services.background_writes.settle()
        services.database.close()
        self.engine.dispose()

    def rows(self, sql: str) -> list[Any]:
        with self.engine.connect() as connection:
            return list(connection.execute(text(sql)))

    def change(self, sql: str) -> None:
        with writing(self.engine) as connection:
            connection.execute(text(sql))

    def text(self, shop: str, instant: int, how: Callable[..., str] = formatting.instant) -> str:
        """An instant in the shop's time, as an English browser is shown it."""
        with self.app.test_request_context(headers=HTML):
            shown = how(from_micros(instant).astimezone(ZoneInfo(ZONES[shop])))
        return " ".join(shown.split())


def run(url: str, *words: str) -> None:
    """Run a command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WAREHOUSE_URL", url)
        result = CliRunner().invoke(main, words, catch_exceptions=False)
    assert result.exit_code in (0, 1, 3), result.output
    assert "a defect" not in result.output, result.output


def take(url: str, kind: str, lines: bytes) -> None:
    """Import a file that the members of both shops might see the name of."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "the file of both.ndjson")
        file.write_bytes(lines)
        run(url, "import", kind, str(file))


def without_data(url: str) -> None:
    """The two shops alone."""
    shops = [{"shop_id": id, "currency": "EUR", "timezone": zone} for id, zone in ZONES.items()]
    take(url, "shops", as_ndjson(shops))


def with_data(url: str) -> None:
    """Data of shop A, and nothing of shop B."""
    without_data(url)
    at = EARLIER.isoformat()
    known = [event(event_id=f"k{number}", occurred_at=at) for number in range(4)]
    other = [event(event_id=f"u{n}", form_id=UNKNOWN, occurred_at=at) for n in range(7)]
    created = [EARLIER - timedelta(days=day) for day in (3, 0, 1)]
    orders = [order(order_id=f"o{n}", created_at=at.isoformat()) for n, at in enumerate(created)]
    for kind, rows in (
        ("forms", [form(), form(form_id=FORM.replace("0190", "0191"))]),
        ("events", [*known, *other]),
        ("orders", orders),
        # A test order is no order.
        ("orders", [order(order_id="t", created_at=NOW.isoformat(), test=True)]),
        ("ad-spend", [spend(), spend(date="2026-01-04"), spend(provider="x")]),
        ("ad-accounts", [account(synced_at="2026-01-05T06:07:08Z")]),
    ):
        take(url, kind, as_ndjson(rows))
    run(url, "rollup")

"""The command line on one warehouse, with a landing folder of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import text

from jobs.cli import main
from tests.support.import_files import Row, as_ndjson, order
from tests.support.processes import children
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from warehouse.connections.engine import open_engine

Process = subprocess.Popen[str]


SHOP: Row = {"shop_id": "a.example", "currency": "EUR"}
# Enough that a rollup still works on them when a test has seen the first one done.
BACKLOG_BATCHES = 15


class Commands:
    """`python -m jobs` on a warehouse; `settings` are the environment variables of all commands."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder
        self.landing = folder / "landing"
        self.settings = {"WAREHOUSE_URL": url, "IMPORT_DIR": str(self.landing)}
        self._started: list[Process] = []

    def start(self, *arguments: str) -> Process:
        """Start a command as a process."""
        process = subprocess.Popen(
            [sys.executable, "-m", "jobs", *arguments],
            env={**os.environ, **self.settings},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def start_scheduler(self) -> Process:
        """Start a scheduler, and wait until it runs its first job: before that a signal would end it
        as any program that has not said what it does with signals."""
        scheduler = self.start("scheduler")
        wait_until(lambda: children(scheduler.pid))
        return scheduler

    def finish(self, process: Process, status: int = 0) -> str:
        """Wait for the end of a process; returns what it printed."""
        output, errors = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == status, (process.args, process.returncode, output, errors)
        return output + errors

    def __call__(self, *arguments: str, status: int = 0, stdin: bytes = b"") -> str:
        """Run a command in this process, with this standard input; returns what it printed."""
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.settings.items():
                patch.setenv(name, value)
            result = CliRunner().invoke(main, arguments, input=stdin, catch_exceptions=False)
        assert result.exit_code == status, (arguments, result.exit_code, result.output)
        return result.output

    def take(self, kind: str, rows: list[Row]) -> None:
        """Import rows of a kind."""
        file = self.folder / f"{kind}.ndjson"
        file.write_bytes(as_ndjson(rows))
        self("import", kind, str(file))

    def make_backlog(self) -> None:
        """Import BACKLOG_BATCHES batches of one order each."""
        self.take("shops", [SHOP])
        for number in range(BACKLOG_BATCHES):
            self.take("orders", [order(order_id=f"o{number}")])

    def one_batch_at_a_time(self) -> None:
        """Have every batch count as so large that a rollup takes each by itself."""
        self.change("UPDATE import_batch SET rows = 400000")

    def status(self, status: int = 0) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(self("status", "--json", status=status).splitlines()[0])
        return report

    def land(self, kind: str, name: str, content: bytes) -> Path:
        """Put a whole file into the landing folder at once."""
        file = self.landing / kind / name
        file.parent.mkdir(parents=True, exist_ok=True)
        hidden = file.with_name(f".{name}")
        hidden.write_bytes(content)
        return hidden.rename(file)

    def rows(self, sql: str) -> list[Any]:
        """The rows of a query, as tuples; a single column as its values."""
        with open_engine(self.url).connect() as connection:
            rows = [tuple(row) for row in connection.execute(text(sql))]
        return [row[0] if len(row) == 1 else row for row in rows]

    def orders_of_shops(self) -> dict[str, int]:
        """How many orders the answers of each shop count."""
        rows = self.rows(
            "SELECT s.shop_id, SUM(d.orders) FROM shop s JOIN daily_attribution d "
            "ON d.edition = s.edition GROUP BY s.shop_id"
        )
        return {shop: int(count) for shop, count in rows}

    def wait_until(self, sql: str) -> None:
        """Wait until the first value of a query is not 0."""
        wait_until(lambda: self.rows(sql)[0], lambda: sql)

    def change(self, sql: str) -> None:
        engine = open_engine(self.url)
        with engine.connect().execution_options(writes=True) as connection:
            connection.execute(text(sql))
            connection.commit()

    def end(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate()


@pytest.fixture
def commands(warehouse_url: str, tmp_path: Path) -> Iterator[Commands]:
    """On either kind of database."""
    on_warehouse = Commands(warehouse_url, tmp_path)
    yield on_warehouse
    on_warehouse.end()


@pytest.fixture
def sqlite_commands(sqlite_url: str, tmp_path: Path) -> Iterator[Commands]:
    on_warehouse = Commands(sqlite_url, tmp_path)
    yield on_warehouse
    on_warehouse.end()


@pytest.fixture
def postgres_commands(postgres_url: str, tmp_path: Path) -> Iterator[Commands]:
    on_warehouse = Commands(postgres_url, tmp_path)
    yield on_warehouse
    on_warehouse.end()

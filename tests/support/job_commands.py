"""`python -m jobs` on one warehouse, with a landing folder of its own."""

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner

from jobs.cli import main
from jobs.pipeline import apply_batch
from tests.support.commands import Command, ForkedProcess, children, set_values, start
from tests.support.import_files import Row, order, written
from tests.support.waiting import wait_until
from tests.support.warehouse import Warehouse

SHOP: Row = {"shop_id": "a.example", "currency": "EUR"}
# A scheduler looks for new pulls each ten seconds.
_LOOKS_SOON: Final = partial(set_values, {"jobs.commands.scheduler._LOOK_SECONDS": 1})
BACKLOG_BATCHES = 15


def slow_batches() -> None:
    """Called in a process that begins: batches are left when a test has seen the first one done."""
    applied = apply_batch.apply

    def slowly(*args: Any) -> None:
        applied(*args)
        time.sleep(0.5)

    apply_batch.apply = slowly  # type: ignore[assignment]


class Commands(Warehouse):
    """`python -m jobs` on a warehouse; `settings` are the environment variables of all commands."""

    def __init__(self, url: str, folder: Path) -> None:
        super().__init__(url, folder)
        self.landing = folder / "landing"
        self.backups = folder / "backups"
        self.settings = {
            "WAREHOUSE_URL": url,
            "IMPORT_DIR": str(self.landing),
            "BACKUP_DIR": str(self.backups),
        }
        self._started: list[Command] = []

    def start(self, *words: str, before: Callable[[], object] | None = None) -> Command:
        """Start a command as a process, which calls `before` first."""
        command = start("jobs", *words, settings=self.settings, before=before)
        self._started.append(command)
        return command

    def run_elsewhere(self) -> None:
        """Have another machine be at work on all that has run here."""
        self.change("UPDATE job_run SET state = 'running', ended_at = 0, owner = 'elsewhere:1:x'")

    def start_scheduler(self) -> Command:
        """Start a scheduler, and wait until it runs its first job: before that a signal would end it
        as any program that has not said what it does with signals."""
        scheduler = self.start("scheduler", before=_LOOKS_SOON)
        wait_until(lambda: children(scheduler.pid))
        return scheduler

    def __call__(self, *arguments: str, status: int = 0, stdin: bytes = b"") -> str:
        """Run a command in this process, with this standard input; returns what it printed."""
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.settings.items():
                patch.setenv(name, value)
            # Its worker for batches that may end their process; `test_deadly_batches.py` has real ones.
            patch.setattr("jobs.executors.processes.Popen", ForkedProcess)
            # Files of tests land whole.
            patch.setattr("jobs.landing.turns._SETTLE_SECONDS", 0.01)
            result = CliRunner().invoke(main, arguments, input=stdin, catch_exceptions=False)
        assert result.exit_code == status, (arguments, result.exit_code, result.output)
        return result.output

    def take(self, kind: str, rows: Any, name: str = "") -> dict[str, int]:
        """Import rows by the command; the counts."""
        file = written(self.folder / (name or f"{kind}.ndjson"), rows)
        printed = self("import", kind, str(file), "--json")
        counts: dict[str, int] = json.loads(printed.splitlines()[-1])
        return counts

    def make_backlog(self) -> None:
        """Import BACKLOG_BATCHES batches of one order each."""
        self.take("shops", [SHOP])
        for number in range(BACKLOG_BATCHES):
            self.take("orders", [order(order_id=f"o{number}")])

    def one_batch_at_a_time(self) -> None:
        """Have every batch count as so large that a rollup takes each by itself."""
        self.change("UPDATE import_batch SET rows = 550000")

    def many_batches_at_a_time(self) -> None:
        """The opposite, and as it was."""
        self.change("UPDATE import_batch SET rows = 1")

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

    def wait_until(self, sql: str) -> None:
        """Wait until the first value of a query is not 0."""
        wait_until(lambda: self.rows(sql)[0], lambda: sql)

    def orders_of_shops(self) -> dict[str, int]:
        """How many orders the answers of each shop count."""
        rows = self.rows(
            "SELECT s.shop_id, SUM(d.orders) FROM shop s JOIN daily_attribution d "
            "ON d.edition = s.edition GROUP BY s.shop_id"
        )
        return {shop: int(count) for shop, count in rows}

    def end(self) -> None:
        for command in self._started:
            command.kill_all()
            command.wait()

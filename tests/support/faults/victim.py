"""A command as a process of its own that is hit at the n-th time at which it turns to the database.

Forked from a server that has everything imported, since starting Python a thousand times over would
take longer than the commands. Portions are small where there are faults, so that a command has many
transactions.
"""

import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from importlib import import_module
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final

import click
import psycopg
from sqlalchemy import Engine, event, make_url

from jobs import cli
from jobs.importing.files import csv, ndjson
from jobs.landing import folder
from jobs.pipeline import batching
from jobs.run.signals import run_interruptibly
from tests.support.faults import servers
from warehouse.connections.arrow import ArrowConnection
from warehouse.operations.process_id import own_name

# Imported before the fork, once for all.
for _name in cli.main.commands:
    cli.main.get_command(click.Context(cli.main), _name)
import_module("alembic.command")

# Rows of a portion of an import, and of a rollup (whose first is an eighth of that).
IMPORT_ROWS: Final = 25
ROLLUP_ROWS: Final = 240
# A command that has not ended by then hangs.
PATIENCE_SECONDS: Final = 180


@dataclass(frozen=True)
class Fault:
    """The fate of a victim: `kind` at its call number `at`, `delay` seconds after that began.

    none, kill (-9), term (SIGTERM), cut (PostgreSQL ends its connections), restart (PostgreSQL is killed
    and started again; `server` is its folder), full (no file may grow past `room` bytes).
    """

    kind: str = "none"
    at: int = 0
    delay: float = 0.0
    room: int = 0
    server: str = ""

    def __str__(self) -> str:
        return f"{self.kind} at {self.at or self.room}{f' + {self.delay:.3f} s' * bool(self.delay)}"


@dataclass
class Victim:
    """A command that runs. `wait` gives what became of it."""

    process: BaseProcess
    output: Path
    words: str

    def wait(self) -> "Outcome":
        self.process.join(PATIENCE_SECONDS)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
            return Outcome(self.words, None, 0, self.output.read_text())
        calls = Path(f"{self.output}.calls")
        return Outcome(
            self.words,
            self.process.exitcode,
            int(calls.read_text() or 0) if calls.exists() else 0,
            self.output.read_text(),
        )


@dataclass
class Outcome:
    """How a command ended: its exit status (negative: the signal; None: it hung and was killed), how
    often it turned to the database (0: it could not tell), and all that it printed."""

    words: str
    status: int | None
    calls: int
    printed: str = field(repr=False)


def start(url: str, args: list[str], place: Path, fault: Fault | None = None) -> Victim:
    """Start `python -m jobs ARGS` on a warehouse, to be hit by a fault; in the folder `place` are what
    it prints, and the landing folder."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.support.faults.victim"])
    output = place / f"output-{time.monotonic_ns()}"
    output.touch()
    # The server that is forked has the environment in which it was started.
    environment = {
        **os.environ,
        "WAREHOUSE_URL": url,
        "IMPORT_DIR": str(place / "landing"),
        "RAW_DAYS": "20",
    }
    process = context.Process(target=_run, args=(args, str(output), fault, environment))
    process.start()
    return Victim(process, output, " ".join(args[:2]))


def _run(args: list[str], output: str, fault: Fault | None, environment: dict[str, str]) -> None:
    target = os.open(output, os.O_WRONLY | os.O_APPEND)
    os.dup2(target, 1)
    os.dup2(target, 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w", buffering=1), os.fdopen(2, "w", buffering=1)
    os.environ.update(environment)
    url = environment["WAREHOUSE_URL"]
    if fault is not None:
        batching.BATCH_ROWS = ROLLUP_ROWS  # type: ignore[misc]
        ndjson.CHUNK_ROWS = csv.CHUNK_ROWS = IMPORT_ROWS  # type: ignore[misc]
        folder._SETTLE_SECONDS = 0.02  # type: ignore[misc]
    calls = _count_calls(lambda: None if fault is None else _strike(fault, url), fault)
    if fault is not None and fault.room:
        resource.setrlimit(resource.RLIMIT_FSIZE, (fault.room, resource.RLIM_INFINITY))
    status = run_interruptibly(lambda: cli.main(args, prog_name="python -m jobs"))
    Path(f"{output}.calls").write_text(str(calls[0]))
    sys.exit(status)


def _count_calls(strike: Callable[[], None], fault: Fault | None) -> list[int]:
    """Have every call to the database counted, and the fault strike before the one it is set to."""
    calls = [0]

    def called(*_: Any) -> None:
        calls[0] += 1
        if fault is not None and calls[0] == fault.at:
            strike()

    def counting(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def wrapper(*args: Any, **options: Any) -> Any:
            called()
            return method(*args, **options)

        return wrapper

    for name in ("execute", "table", "append", "stage", "commit", "rollback"):
        setattr(ArrowConnection, name, counting(getattr(ArrowConnection, name)))
    for name in ("before_cursor_execute", "commit"):
        event.listen(Engine, name, called)
    return calls


def _strike(fault: Fault, url: str) -> None:
    if fault.delay:
        timer = threading.Timer(fault.delay, _hit, [fault, url])
        # The process ends only after a server that is being restarted is there again.
        timer.daemon = False
        timer.start()
    else:
        _hit(fault, url)


def _hit(fault: Fault, url: str) -> None:
    match fault.kind:
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "term":
            os.kill(os.getpid(), signal.SIGTERM)
        case "cut":
            _cut(url)
        case "restart":
            servers.restart(Path(fault.server))


def _cut(url: str) -> None:
    """End the connections of this process, and of the one that migrates."""
    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
            "AND datname = current_database() AND application_name IN (%s, '')",
            [own_name()],
        )

"""A command as a process of its own that is hit at the n-th time at which it turns to the database.

Portions are small where there are faults, so that a command has many transactions.
"""

import atexit
import os
import resource
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial, wraps
from pathlib import Path
from typing import Any, Final

import psycopg
from sqlalchemy import Engine, event, make_url

from jobs.importing.files import csv, ndjson
from jobs.landing import turns
from jobs.pipeline import batching
from tests.support import commands
from tests.support.commands import Command
from tests.support.faults import servers
from warehouse.connections.arrow import ArrowConnection
from warehouse.operations.process_id import own_name

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
class Outcome:
    """How a command ended: its exit status (negative: the signal; None: it hung and was killed), how
    often it turned to the database (0: it could not tell), and all that it printed."""

    words: str
    status: int | None
    calls: int
    printed: str = field(repr=False)


@dataclass
class Victim:
    """A command that runs. `wait` gives what became of it."""

    command: Command
    calls: Path

    def wait(self) -> Outcome:
        status: int | None = None
        try:
            status = self.command.wait(PATIENCE_SECONDS)
        except TimeoutError:
            self.command.kill()
            self.command.wait()
        calls = int(self.calls.read_text()) if self.calls.exists() else 0
        words = " ".join(self.command.words[1:3])
        return Outcome(words, status, calls, self.command.printed)


def start(url: str, args: list[str], place: Path, fault: Fault | None = None) -> Victim:
    """Start `python -m jobs ARGS` on a warehouse, to be hit by a fault; the landing folder is in the folder
    `place`."""
    calls = place / f"calls-{time.monotonic_ns()}"
    settings = {"WAREHOUSE_URL": url, "IMPORT_DIR": str(place / "landing"), "RAW_DAYS": "20"}
    before = partial(_expose, fault, url, calls)
    return Victim(commands.start("jobs", *args, settings=settings, before=before), calls)


def _expose(fault: Fault | None, url: str, calls: Path) -> None:
    """Have this process count its calls into a file, and be hit at one of them."""
    if fault is not None:
        batching.BATCH_ROWS = ROLLUP_ROWS  # type: ignore[misc]
        ndjson.CHUNK_ROWS = csv.CHUNK_ROWS = IMPORT_ROWS  # type: ignore[misc]
        turns._SETTLE_SECONDS = 0.02  # type: ignore[misc]
    counted = _count_calls(lambda: None if fault is None else _strike(fault, url), fault)
    if fault is not None and fault.room:
        resource.setrlimit(resource.RLIMIT_FSIZE, (fault.room, resource.RLIM_INFINITY))
    atexit.register(lambda: calls.write_text(str(counted[0])))


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
            "AND datname = current_database() AND application_name IN (%s, '') /* of the tests */",
            [own_name()],
        )

"""One run of a job: its warehouse, its record, its lease, and how it ends when it is told to."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass

from jobs import stopwatch
from jobs.beside import ended_in_time, kept_alive
from jobs.clock import now_micros
from jobs.commands.shared import failures
from jobs.ending import Ending, Stopped, ending
from jobs.telling import say, waiting_line
from warehouse import leases, runs, settings
from warehouse.bulk import Bulk, open_bulk
from warehouse.migrated import open_migrated
from warehouse.queue import Batch

# The job's turn is another process's (EX_TEMPFAIL).
TAKEN = 75


class Run:
    """The run in hand. Its methods are called where nothing is half done: they raise Stopped once
    the process has been told to end."""

    def __init__(self, bulk: Bulk, window_days: int, record: runs.Record, state: Ending) -> None:
        self.bulk, self.window_days, self.record = bulk, window_days, record
        self.begun = now_micros()
        self.on_rows: Callable[[int], object] = lambda _rows: None
        self._ending, self.say_waiting = state, waiting_line()
        bulk.on_wait = self.say_waiting

    def took(self, batches: list[Batch]) -> None:
        """Import batches have been taken in."""
        rows = sum(batch["rows"] for batch in batches)
        self.record.batches += len(batches)
        self.record.rows += rows
        self.record.shops |= {batch["shop_key"] for batch in batches}
        self.on_rows(rows)
        self.go_on()

    def waiting(self, holder: str) -> None:
        """Something is waited for that `holder` has ("host:pid", or "")."""
        stopwatch.phase("wait")
        self.say_waiting(holder)
        self.go_on()

    def go_on(self) -> None:
        """Raise Stopped where the process has been told to end."""
        if self._ending.asked:
            raise Stopped


@dataclass
class Turn:
    """A turn of the schedule: the name of its job, which is that of a lease, too; whether to say so
    where another process has it."""

    job: str
    quiet: bool


turn: ContextVar[Turn | None] = ContextVar("turn", default=None)


@contextmanager
def running(job: str, words: str = "", *, alone: bool = False) -> Iterator[Run]:
    """Run a job on the migrated warehouse, recorded.

    A job that is to run `alone`, or is a turn of the schedule, exits with TAKEN where another
    process has its lease. Exits 1 with one line where the warehouse does not answer, and 128 + the
    signal's number where the process was told to end.
    """
    with failures(), ending() as state:
        url = settings.WAREHOUSE_URL.get()
        window_days = settings.ATTRIBUTION_WINDOW_DAYS.get()
        mine = turn.get() or (Turn(job, quiet=False) if alone else None)
        record = runs.Record(mine.job if mine else job, words)
        with ended_in_time(state, url, record), open_migrated(url) as bulk:
            run = Run(bulk, window_days, record, state)
            if mine and not leases.take(bulk, mine.job, now_micros()):
                if not mine.quiet:
                    say(f"{mine.job}: {leases.holder(bulk, mine.job)} has its turn")
                sys.exit(TAKEN)
            yield from _recorded(url, run, state)


def _recorded(url: str, run: Run, state: Ending) -> Iterator[Run]:
    bulk, record = run.bulk, run.record
    watch = stopwatch.Stopwatch(record.seconds)
    token = stopwatch.running.set(watch)
    outcome = runs.FAILED
    try:
        with suppress(Exception):
            runs.begin(bulk, record, now_micros())
        with kept_alive(url, record, bulk.backend, run.say_waiting):
            yield run
        outcome = runs.FAILED if record.error else runs.DONE
    except Stopped:
        outcome = runs.STOPPED
        name = signal.Signals(state.asked).name
        record.error = f"told to end ({name})"
        say(f"ended by {name}: what was finished is kept, and the next run goes on from there")
        sys.exit(128 + state.asked)
    except BaseException as error:
        record.error = record.error or _words(error)
        raise
    finally:
        stopwatch.running.reset(token)
        watch.enter("end")
        with suppress(Exception):
            _end(url, run, outcome)


def _end(url: str, run: Run, outcome: str) -> None:
    try:
        run.bulk.rollback()
        _close(run.bulk, run.record, outcome)
    except Exception:
        # The job's own connection may be what has failed.
        with open_bulk(url, patient=False) as another:
            _close(another, run.record, outcome)


def _close(bulk: Bulk, record: runs.Record, outcome: str) -> None:
    leases.release(bulk, record.job)
    if record.run_id:
        runs.update(bulk, record, now_micros(), outcome)


def _words(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"exit status {error.code}"
    return " ".join(f"{type(error).__name__}: {error}".split())

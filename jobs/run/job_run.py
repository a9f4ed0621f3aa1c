"""One run of a job: its warehouse, record, lease and heartbeat, the seconds of its phases, and how it stops
after a signal."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from types import TracebackType
from typing import Final, Self

from jobs.run import signals
from jobs.run.console import say, waiting_line
from jobs.run.errors import AlreadyRunning, CommandFailed, explained
from jobs.run.heartbeat import Heartbeat, beating
from warehouse import command, settings
from warehouse.connections.arrow import ArrowConnection, open_arrow
from warehouse.domain.time import NEVER
from warehouse.editions import failed_batches
from warehouse.editions.pending_batches import Batch
from warehouse.migrations.migrate import open_migrated
from warehouse.operations import job_runs
from warehouse.operations.process_id import display_name

PAUSE_SECONDS: Final = 0.5
"""The time between two looks at whether another process has ended, or released a lease."""


@contextmanager
def open_warehouse(*, creates: bool = True) -> Iterator[ArrowConnection]:
    """The migrated warehouse, for commands that are not recorded. Those that only read create none."""
    with open_migrated(settings.WAREHOUSE_URL.get(), creates=creates) as connection:
        yield connection


def shop_keys(connection: ArrowConnection, shop: str | None) -> list[int]:
    """The keys of all shops, or of the one with this id. Raises CommandFailed if there is none."""
    if shop is None:
        return connection.table("SELECT shop_key FROM shop ORDER BY shop_key").column(0).to_pylist()
    key = connection.value("SELECT shop_key FROM shop WHERE shop_id = $1", shop)
    if key is None:
        raise CommandFailed(f"no shop {shop!r}; import it first (kind shops)")
    return [key]


class JobRun:
    """`with JobRun("rollup") as run:` runs a job on the migrated warehouse, and records that it did.

    `connection` is open during the block. `record` is what the run's row in `job_run` will say; an
    `error` set in it makes the run a failed one: the block's end then raises CommandFailed.

    A `connection` that is given is to a migrated warehouse, and stays open.

    A run that is `exclusive`, or is `scheduled_as` a job of the schedule (and recorded under that
    name), is the only one of its name. Raises AlreadyRunning if there is another, Stopped after a
    signal, for which it has `grace` seconds. A run that `creates` none raises NoWarehouse where there is
    no warehouse.
    """

    def __init__(
        self,
        job: str,
        arguments: str = "",
        *,
        scheduled_as: str | None = None,
        exclusive: bool = False,
        creates: bool = True,
        grace: float = signals.GRACE_SECONDS,
        connection: ArrowConnection | None = None,
    ) -> None:
        is_exclusive = exclusive or scheduled_as is not None
        self.record = job_runs.Record(scheduled_as or job, arguments, is_exclusive)
        # By the database server's clock: batches that have failed since then are not tried again.
        self.started_at = 0
        # By edition, how many batches could not be applied; and these.
        self.failures = Counter[int]()
        self._failed: set[tuple[int, int]] = set()
        # Called with the raw rows of each batch that is done, and with a sentence for each that failed.
        self.on_rows: Callable[[int], object] = lambda _rows: None
        self.tell: Callable[[str], object] = say
        self._creates, self._grace = creates, grace
        self._given = connection
        self._say_waiting = waiting_line()

    def __enter__(self) -> Self:
        self._url = settings.WAREHOUSE_URL.get()
        self.window_days: int = settings.ATTRIBUTION_WINDOW_DAYS.get()
        with ExitStack() as stack:
            stack.enter_context(signals.graceful_stop(self._give_up, self._grace))
            self.connection = self._given or stack.enter_context(
                open_migrated(self._url, creates=self._creates)
            )
            self.connection.on_lock_wait = self._say_waiting
            self._begin()
            stack.enter_context(_measured(self.record.seconds))
            stack.push(self._end)
            heartbeat = Heartbeat(
                self._url, self.record, self.connection.server_pid, self._say_waiting
            )
            stack.enter_context(beating(heartbeat.beat))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)
        if error is None and self.record.error:
            raise CommandFailed(self.record.error)

    @property
    def owner(self) -> str:
        """The owner of the run's leases of editions."""
        return self.record.owner

    def batches_done(self, batches: list[Batch]) -> None:
        """Count batches as rolled up. Raises Stopped after a signal."""
        rows = sum(batch["rows"] for batch in batches)
        self.record.batches += len(batches)
        self.record.rows += rows
        self.record.shops |= {batch["shop_key"] for batch in batches}
        self.on_rows(rows)
        self.raise_if_stopped()

    def read_failures(self, numbers: Iterable[int]) -> None:
        """Count and tell the batches of these editions that have failed since the run began, here or in its
        workers: it tries none of them again. Commits."""
        for batch in failed_batches.failed_since(self.connection, numbers, self.started_at):
            if (batch["edition"], batch["batch_id"]) not in self._failed:
                self._failed.add((batch["edition"], batch["batch_id"]))
                self.failures[batch["edition"]] += 1
                is_last = batch["retry_at"] == NEVER
                self.tell(
                    f"batch {batch['batch_id']} of {batch['shop_id']} ({batch['rows']} rows) "
                    f"{'is SET ASIDE after its last try' if is_last else 'failed and will be tried again'}: "
                    f"{batch['error']}"
                )
        if number := len(self._failed):
            self.record.error = (
                f"{number} {'batch' if number == 1 else 'batches'} could not be applied; "
                f"`{command('jobs status')}` lists them"
            )

    def wait_for(self, holder: str) -> None:
        """Wait some time for another process ("host:pid", or ""), and say so. Commits. Raises Stopped after a
        signal."""
        phase("wait")
        self.connection.commit()
        self._say_waiting(holder)
        self.raise_if_stopped()
        time.sleep(PAUSE_SECONDS)

    def raise_if_stopped(self) -> None:
        """Raise Stopped after a signal; to be called where nothing is half done."""
        signals.raise_if_stopped()

    def _begin(self) -> None:
        connection, job = self.connection, self.record.job
        try:
            now = connection.now_micros()
            self.started_at = self.started_at or now
            has_begun = job_runs.begin(connection, self.record, now)
        except Exception:
            if self.record.is_exclusive:
                raise
            # The run goes on without a record, in a transaction of its own.
            connection.rollback()
        else:
            if not has_begun:
                holder = display_name(job_runs.holder(connection, job))
                raise AlreadyRunning(f"{job} is already running ({holder})")

    def _end(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: object
    ) -> None:
        """Write how the run ended."""
        phase("end")
        state = job_runs.DONE
        if isinstance(error, signals.Stopped):
            state, self.record.error = job_runs.STOPPED, str(error)
        elif error is not None or self.record.error:
            state = job_runs.FAILED
            if error is not None and not self.record.error:
                self.record.error = explained(error)
        with suppress(Exception):
            try:
                self.connection.rollback()
                self._close(self.connection, state)
            except Exception:
                # The run's own connection may be what has failed.
                with open_arrow(self._url, wait_for_locks=False) as another:
                    self._close(another, state)

    def _close(self, connection: ArrowConnection, state: str) -> None:
        if self.record.run_id:
            job_runs.update(connection, self.record, connection.now_micros(), state)

    def _give_up(self) -> None:
        """Write that the run was ended in the middle of a batch."""
        self.record.error = "stopped in the middle of a batch, which was rolled back"
        with suppress(Exception), open_arrow(self._url, wait_for_locks=False) as connection:
            self._close(connection, job_runs.STOPPED)
            failed_batches.take_back(connection, self.owner)


class _Stopwatch:
    """Seconds by phase: time counts for a phase until the next one begins."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self._seconds = seconds
        self._phase, self._since = "start", time.monotonic()

    def enter(self, name: str) -> None:
        now = time.monotonic()
        self._seconds[self._phase] = self._seconds.get(self._phase, 0) + now - self._since
        self._phase, self._since = name, now


_stopwatch: ContextVar[_Stopwatch | None] = ContextVar("_stopwatch", default=None)


@contextmanager
def _measured(seconds: dict[str, float]) -> Iterator[None]:
    """Add the seconds of each phase of the block to `seconds`, up to the last call of `phase`."""
    token = _stopwatch.set(_Stopwatch(seconds))
    try:
        yield
    finally:
        _stopwatch.reset(token)


def phase(name: str) -> None:
    """Count the time from here on for this phase of the run. Outside of a run, and in threads that a run
    has started, this does nothing."""
    stopwatch = _stopwatch.get()
    if stopwatch is not None:
        stopwatch.enter(name)

"""START HERE: the driver starts a rollup on each worker of an engine, and waits for their ends.

It hands out nothing: workers claim editions, as rollups on several hosts do, and take over those of a
worker that has died. Their work is told as the warehouse tells it. The driver holds the lease of its job,
keeps its record and shows its progress; workers keep records of their own. Its own drain does what is left,
and all of it where there are no workers.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import contextmanager
from typing import Final

from jobs.executors.engine import Engine, EngineUnavailable, WorkerDied
from jobs.executors.processes import Processes
from jobs.executors.worker import DONE, Request, fingerprint
from jobs.pipeline import batching
from jobs.run.console import say
from jobs.run.errors import CommandFailed, blamed
from jobs.run.job_run import JobRun
from jobs.run.phases import phase
from warehouse.domain.time import MICROS_PER_SECOND
from warehouse.editions import editions, failed_batches, leases, pending_batches
from warehouse.editions.editions import Edition
from warehouse.operations import job_runs
from warehouse.operations.process_id import LEASE_MICROS
from warehouse.setting_values import SettingError

_LOOK_SECONDS: Final = 0.5
# Between two looks at what the warehouse says.
_WAREHOUSE_SECONDS: Final = 2.0
# How long an engine may be without workers (they may be restarting) before the driver goes on alone.
_MAX_SECONDS_WITHOUT_WORKERS: Final = 30.0
# Where no edition was held for so long, workers are not waited for: one that is well leases some within
# seconds. Once one of them has found nothing more to do, the others have only to say so.
_MAX_SECONDS_WITHOUT_LEASE: Final = LEASE_MICROS / MICROS_PER_SECOND
_MAX_SECONDS_TO_END: Final = 10.0
# A worker holds a quarter of its part at once, so that none works on alone for long at the end; but at least
# 1/20 of a group.
_TURNS: Final = 4
_MIN_FRACTION: Final = 20

Plan = Callable[[], list[Edition]]


@contextmanager
def shared_out(run: JobRun, plan: Plan, executor: str, *, only_due: bool = False) -> Iterator[None]:
    """Before the block, have an engine's workers roll up what a plan says, if it is more than one group. The
    block does what is left: workers that lost their engine may end meanwhile. `only_due`: see `Drain`."""
    connection = run.connection
    if not connection.has_many_writers:
        raise CommandFailed(
            f"EXECUTOR={executor}: SQLite has one writer at a time, so that more processes gain "
            "nothing. Use inline, or a warehouse on PostgreSQL"
        )
    phase("plan")
    numbers = [edition.edition for edition in plan()]
    due = connection.now_micros() if only_due else None
    waiting = pending_batches.backlogs(connection, numbers, run.started_at, due)
    connection.commit()
    if sum(backlog.rows for backlog in waiting.values()) <= batching.BATCH_ROWS:
        yield
        return
    phase("tasks")
    results = _Results(run, numbers)
    try:
        with _open_engine(executor) as engine:
            _Driver(run, engine, results, only_due=only_due).roll_up()
    except EngineUnavailable as error:
        say(f"{error}; this process goes on alone")
    results.read()
    results.read_failures()
    yield
    results.count()


@contextmanager
def _open_engine(executor: str) -> Iterator[Engine]:
    """The engine of a value of EXECUTOR that is not `inline`. Raises EngineUnavailable."""
    kind, _, rest = executor.partition(":")
    engine: Engine
    if kind == "processes":
        engine = Processes(int(rest))
    else:
        try:
            from jobs.executors.dask_cluster import DaskCluster
        except ImportError as error:
            raise SettingError(
                f"EXECUTOR={executor!r}: the package {error.name} is not installed; "
                "install the extra `cluster` (`pip install '.[cluster]'`)"
            ) from None
        engine = DaskCluster(executor.removeprefix("dask+"))
    try:
        yield engine
    finally:
        engine.close()


class _Results:
    """The work of a run's workers on these editions, as the warehouse tells it."""

    def __init__(self, run: JobRun, numbers: list[int]) -> None:
        self._run, self._connection, self.numbers = run, run.connection, numbers
        self.rows = self._left = pending_batches.pending_rows(self._connection, numbers)
        self.arguments = f"{len(numbers)} shops of run {run.record.run_id}"
        # The rows and batches of workers that are in the run's record.
        self._told = 0, 0
        self._last_run = job_runs.last_run(self._connection)

    def read(self) -> None:
        """Bring the run's record and its progress up to date."""
        self.count()
        left = pending_batches.pending_rows(self._connection, self.numbers)
        self._connection.commit()
        self._run.on_rows(max(self._left - left, 0))
        self._left = min(self._left, left)

    def count(self) -> None:
        """Bring the run's record up to date. Commits."""
        record, connection = self._run.record, self._connection
        tasks = job_runs.sums_of_tasks(connection, self.arguments, after=self._last_run)
        record.rows += tasks[0] - self._told[0]
        record.batches += tasks[1] - self._told[1]
        self._told = tasks
        record.shops |= editions.rolled_up_since(connection, self.numbers, self._run.started_at)
        connection.commit()

    def read_failures(self) -> None:
        """Count the batches that have failed since the run began: it tries none of them again."""
        since = self._run.started_at
        failed = failed_batches.failed_since(self._connection, self.numbers, since)
        # Those that the run has counted itself are among them.
        self._run.failures |= failed
        self._run.batches_failed({})


class _Driver:
    def __init__(self, run: JobRun, engine: Engine, results: _Results, *, only_due: bool) -> None:
        self._run, self._engine, self._results = run, engine, results
        part = results.rows // (_TURNS * max(len(engine.workers()), 1))
        self._request = Request(
            fingerprint(run.connection),
            run.record.run_id,
            run.started_at,
            results.numbers,
            only_due,
            min(batching.BATCH_ROWS, max(part, batching.BATCH_ROWS // _MIN_FRACTION)),
            results.arguments,
        ).as_text()
        self._working: dict[Future[str], str] = {}
        # The workers that were ever started.
        self._started: set[str] = set()
        self._has_one_ended = False
        self._worked_at = self._held_at = time.monotonic()
        self._look_at = 0.0

    def roll_up(self) -> None:
        """Have all workers roll up, until none has anything more to do. Raises EngineUnavailable."""
        while self._has_workers():
            done = wait(self._working, _LOOK_SECONDS, FIRST_COMPLETED).done
            for future in done:
                self._finish(self._working.pop(future), future)
            if not done:
                self._look()
            self._run.raise_if_stopped()

    def _has_workers(self) -> bool:
        """Start what has not been started; whether there is any worker to wait for."""
        present = self._engine.workers()
        for worker in sorted(present - self._started):
            self._working[self._engine.start(worker, self._request)] = worker
        self._started |= present
        # A worker that has left tells nothing more, unless it has just done so.
        for future in [one for one, worker in self._working.items() if worker not in present]:
            if wait([future], _LOOK_SECONDS).not_done:
                del self._working[future]
        if self._working:
            self._worked_at = time.monotonic()
            return True
        if self._has_one_ended or not self._engine.grows:
            return False
        if present:
            raise EngineUnavailable("no worker can be used")
        if time.monotonic() - self._worked_at > _MAX_SECONDS_WITHOUT_WORKERS:
            raise EngineUnavailable(f"no worker was there for {_MAX_SECONDS_WITHOUT_WORKERS:.0f} s")
        time.sleep(_LOOK_SECONDS)
        return True

    def _look(self) -> None:
        """Tell what the warehouse says. Raises EngineUnavailable where the workers do nothing."""
        now = time.monotonic()
        if now < self._look_at:
            return
        self._look_at = now + _WAREHOUSE_SECONDS
        self._results.read()
        connection = self._run.connection
        if leases.held(connection, self._results.numbers, connection.now_micros()):
            self._held_at = now
        most = _MAX_SECONDS_TO_END if self._has_one_ended else _MAX_SECONDS_WITHOUT_LEASE
        if self._working and now - self._held_at > most:
            names = ", ".join(sorted(self._working.values()))
            raise EngineUnavailable(f"{names} did nothing for {most:.0f} s")

    def _finish(self, worker: str, future: Future[str]) -> None:
        try:
            answer: object = future.result()
            if not isinstance(answer, str):
                raise TypeError(f"it sent {type(answer).__name__} in place of a text")
        except CancelledError:
            return  # The engine has lost it. It may still be at work: then its editions are held.
        except self._engine.deaths as error:
            how = str(error) if isinstance(error, WorkerDied) else type(error).__name__
            say(f"a worker has died: {worker} ({how}); others take over its work")
        except Exception as error:
            # It has an earlier program, for example, which cannot even read the request.
            say(f"a worker failed: {worker} ({blamed(error)})")
        else:
            if answer == DONE:
                self._has_one_ended = True
            else:
                say(f"worker {worker} gets no more tasks of this run: {answer}")

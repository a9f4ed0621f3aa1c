"""START HERE: the driver starts a rollup on each worker of an engine, and waits for their ends.

It hands out nothing: workers claim editions, as rollups on several hosts do, and take over those of a
worker that has died. Their work is told as the warehouse tells it. The driver holds the lease of its job,
keeps its record and shows its progress; workers keep records of their own. Its own worker loop does what
is left, and all of it where there are no workers.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import contextmanager
from typing import Final

from jobs.executors.engine import Engine, EngineUnavailable
from jobs.executors.processes import Processes, WorkerDied
from jobs.executors.share import DONE, Share
from jobs.pipeline import batching
from jobs.run.console import say
from jobs.run.errors import CommandFailed, blamed
from jobs.run.job_run import JobRun, phase
from warehouse.domain.time import MICROS_PER_SECOND
from warehouse.editions import leases, pending_batches
from warehouse.editions.editions import Edition
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
    block does what is left: workers that lost their engine may end meanwhile. `only_due`: see
    `WorkerLoop`."""
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
    share = Share(run, numbers)
    try:
        with _open_engine(executor) as engine:
            _Driver(run, engine, share, only_due=only_due).roll_up()
    except EngineUnavailable as error:
        say(f"{error}; this process goes on alone")
    share.read()
    run.read_failures(numbers)
    yield
    share.count()


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


class _Driver:
    def __init__(self, run: JobRun, engine: Engine, share: Share, *, only_due: bool) -> None:
        self._run, self._engine, self._share = run, engine, share
        part = share.rows // (_TURNS * max(len(engine.workers()), 1))
        most = min(batching.BATCH_ROWS, max(part, batching.BATCH_ROWS // _MIN_FRACTION))
        self._request = share.request(only_due=only_due, claimed_rows=most)
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
        if self._has_one_ended:
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
        self._share.read()
        connection = self._run.connection
        if leases.held(connection, self._share.numbers, connection.now_micros()):
            self._held_at = now
        most = _MAX_SECONDS_TO_END if self._has_one_ended else _MAX_SECONDS_WITHOUT_LEASE
        if self._working and now - self._held_at > most:
            names = ", ".join(sorted(self._working.values()))
            raise EngineUnavailable(f"{names} did nothing for {most:.0f} s")

    def _finish(self, worker: str, future: Future[str]) -> None:
        try:
            answer = future.result()
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

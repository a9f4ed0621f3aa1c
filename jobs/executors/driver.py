"""START HERE: the driver hands out shares of a rollup's work to an engine's workers.

It holds the lease of its job, keeps its record and shows its progress; workers keep records of their own.
It submits as many tasks as there are workers, so that each idle one gets the largest share that waits.

A share whose worker dies is given to another one, whose drain takes care of what may have killed the first.
A share whose editions others hold is tried again for as long as the lease of a dead worker may last. A share
none of whose editions is held is given to another worker: its own is frozen, or cut off from the database.
The driver's own drain does the rest, and all of it where there are no workers.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import contextmanager, suppress
from typing import Any, Final

from jobs.executors.engines import Engine, Processes
from jobs.executors.errors import EngineUnavailable, VersionSkew, WorkerFailed
from jobs.executors.shares import Share, shares
from jobs.executors.task import TaskOutcome, Work, own_build, run_task
from jobs.run.clock import now_micros
from jobs.run.console import say
from jobs.run.errors import CommandFailed
from jobs.run.job_run import JobRun
from jobs.run.phases import phase
from warehouse.domain.time import MICROS_PER_SECOND
from warehouse.editions import leases, pending_batches
from warehouse.editions.editions import Edition
from warehouse.operations.process_id import LEASE_MICROS
from warehouse.setting_values import SettingError

_LOOK_SECONDS: Final = 0.5
# How long an engine may be without workers (they may be restarting) before the driver goes on alone.
_MAX_SECONDS_WITHOUT_WORKERS: Final = 30.0
# Editions that are held are asked for again after so long, and until the lease of a worker that has died
# must have ended.
_HELD_PAUSE_SECONDS: Final = 5.0
_MAX_HELD_SECONDS: Final = LEASE_MICROS / MICROS_PER_SECOND + 30
# A worker that has held none of its share's editions for so long is not waited for. It leases some within
# seconds where it is well.
_MAX_SECONDS_WITHOUT_LEASE: Final = LEASE_MICROS / MICROS_PER_SECOND
# Workers that may fail at a share, through no fault of a batch, before it is left to the driver.
_MAX_FAILURES: Final = 3

Plan = Callable[[], list[Edition]]


def share_out(run: JobRun, plan: Plan, executor: str, *, only_due: bool = False) -> None:
    """Have an engine's workers roll up what a plan says, if it is more than one portion. The rest is left to
    the run itself. `only_due`: see `Drain`."""
    if not run.connection.has_many_writers:
        raise CommandFailed(
            f"EXECUTOR={executor}: SQLite has one writer at a time, so that more processes gain "
            "nothing. Use inline, or a warehouse on PostgreSQL"
        )
    phase("plan")
    numbers = [edition.edition for edition in plan()]
    due = now_micros() if only_due else None
    waiting = pending_batches.backlogs(run.connection, numbers, run.started_at, due)
    rows = {number: backlog.rows for number, backlog in waiting.items()}
    run.connection.commit()
    if not shares(rows, 1):
        return
    try:
        with _open_engine(executor) as engine:
            _Driver(run, engine, only_due=only_due).roll_up(rows)
    except EngineUnavailable as error:
        say(f"{error}; this process goes on alone")


@contextmanager
def _open_engine(executor: str) -> Iterator[Engine]:
    """The engine of a value of EXECUTOR that is not `inline`. At the end of the block, tasks that have not
    begun are cancelled. Raises EngineUnavailable."""
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
        engine.shutdown(wait=True, cancel_futures=True)


class _Driver:
    def __init__(self, run: JobRun, engine: Engine, *, only_due: bool) -> None:
        self._run, self._engine = run, engine
        self._only_due = only_due
        self._build = own_build(run.connection)
        self._waiting: deque[Share] = deque()
        self._running: dict[Future[Any], Share] = {}
        # When one of a running share's editions was last seen to be held, and when to look again.
        self._held_at: dict[Future[Any], float] = {}
        self._look_at = 0.0
        # The tasks of workers that are not waited for. Each still occupies its worker.
        self._frozen: set[Future[Any]] = set()
        self._last_worker_at = time.monotonic()

    def roll_up(self, rows: dict[int, int]) -> None:
        """Have all shares done, but for those that have to be left."""
        phase("tasks")
        self._waiting.extend(shares(rows, max(self._engine.workers(), 1)))
        while self._waiting or self._running:
            self._submit()
            if time.monotonic() - self._last_worker_at > _MAX_SECONDS_WITHOUT_WORKERS:
                raise EngineUnavailable(
                    f"no worker was there for {_MAX_SECONDS_WITHOUT_WORKERS:.0f} s"
                )
            if tasks := self._running.keys() | self._frozen:
                done = wait(tasks, _LOOK_SECONDS, FIRST_COMPLETED).done
            else:
                done = set()
                time.sleep(_LOOK_SECONDS)
            for future in done:
                if future in self._frozen:
                    self._frozen.discard(future)
                    with suppress(Exception):
                        self._add(future.result())
                else:
                    self._finish(self._running.pop(future), future)
            self._take_back_frozen()
            self._run.raise_if_stopped()

    def _submit(self) -> None:
        free = self._engine.workers() - len(self._running) - len(self._frozen)
        now = time.monotonic()
        if free + len(self._running) > 0:
            self._last_worker_at = now
        # Two tasks of one edition would only find each other's lease.
        busy = {number for share in self._running.values() for number in share.editions}
        for share in list(self._waiting):
            if free <= 0:
                break
            if share.retry_at <= now and busy.isdisjoint(share.editions):
                work = Work(share.editions, self._run.started_at, self._only_due)
                self._waiting.remove(share)
                future = self._engine.submit(run_task, self._build, work)
                self._running[future], self._held_at[future] = share, now
                busy.update(share.editions)
                free -= 1

    def _take_back_frozen(self) -> None:
        """Have others do the shares whose workers hold nothing."""
        now = time.monotonic()
        if now < self._look_at:
            return
        self._look_at = now + _HELD_PAUSE_SECONDS
        connection = self._run.connection
        for future, share in list(self._running.items()):
            if leases.held(connection, share.editions, connection.now_micros()):
                self._held_at[future] = now
            elif now - self._held_at[future] > _MAX_SECONDS_WITHOUT_LEASE:
                say("a worker does nothing: others do its share")
                self._frozen.add(future)
                self._try_again(self._running.pop(future))

    def _finish(self, share: Share, future: Future[Any]) -> None:
        try:
            outcome: TaskOutcome = future.result()
        except CancelledError:
            # The engine has lost it. It may still be at work: then its editions are held.
            self._try_again(share)
        except self._engine.deaths as error:
            say(f"a worker has died: {type(error).__name__}")
            self._try_again(share)
        except WorkerFailed as error:
            say(f"worker {error.worker} gets no more tasks of this run: {_reason(error)}")
            self._engine.avoid(error.worker)
            self._try_again(share, failed=not isinstance(error, VersionSkew))
        except Exception as error:
            # The program of the worker is so different that it cannot even read the task.
            say(f"a worker failed: {type(error).__name__}: {error}")
            self._try_again(share)
        else:
            self._add(outcome)
            if outcome.left:
                self._ask_later(share, outcome.left)

    def _add(self, outcome: TaskOutcome) -> None:
        record = self._run.record
        record.rows += outcome.rows
        record.batches += outcome.batches
        record.shops |= outcome.shops
        self._run.batches_failed(outcome.failures)
        self._run.on_rows(outcome.rows)

    def _try_again(self, share: Share, *, failed: bool = True) -> None:
        share = share.failed() if failed else share
        if share.failures < _MAX_FAILURES:
            self._waiting.append(share)

    def _ask_later(self, share: Share, editions: tuple[int, ...]) -> None:
        now = time.monotonic()
        share = share.later(editions, now + _HELD_PAUSE_SECONDS, now + _MAX_HELD_SECONDS)
        if now < share.give_up_at:
            self._waiting.append(share)


def _reason(error: WorkerFailed) -> str:
    return f"it has {error.reason}" if isinstance(error, VersionSkew) else error.reason

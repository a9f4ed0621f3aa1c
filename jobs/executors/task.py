"""The task: one share of the work, done by a worker over connections of its own.

A worker takes its settings from its own environment; no address or password travels. It refuses to work
where its program or its settings would make other figures than the driver's.
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple

import adbc_driver_manager

from jobs.executors.errors import VersionSkew, WorkerFailed
from jobs.pipeline.drain import Drain
from jobs.run.errors import CommandFailed, explained
from jobs.run.job_run import JobRun
from jobs.run.signals import Stopped
from warehouse import settings
from warehouse.catalogue import LOGIC_VERSION
from warehouse.connections.arrow import ArrowConnection, connect_arrow
from warehouse.editions.editions import editions_numbered
from warehouse.migrations.migrate import HEAD
from warehouse.operations.job_runs import TASK
from warehouse.operations.process_id import own_name

# The connection of the process between two tasks, by its URL. To connect takes as long as the work on
# thousands of rows, and a new session of the server has to read its catalogue first.
_kept: Final[dict[str, ArrowConnection]] = {}

# The settings and versions that must be the same on all workers, by name.
Build = dict[str, str]


class TaskOutcome(NamedTuple):
    """The result of a share. `failures`: batches that could not be applied, by edition; `left`: editions
    that another process holds, or all if the worker was stopped."""

    rows: int
    batches: int
    shops: frozenset[int]
    failures: dict[int, int]
    left: tuple[int, ...]


class Work(NamedTuple):
    """All that a worker is told. `started_at` is when the driver's run began."""

    editions: tuple[int, ...]
    started_at: int
    only_due: bool


def own_build(connection: ArrowConnection) -> Build:
    """The settings and versions with which this process makes figures. Commits."""
    return {
        "logic version": str(LOGIC_VERSION),
        "schema revision": HEAD,
        "ATTRIBUTION_WINDOW_DAYS": str(settings.ATTRIBUTION_WINDOW_DAYS.get()),
        # As the server tells it: hosts may spell its address in different ways.
        "warehouse (the one that WAREHOUSE_URL names)": connection.identity(),
    }


def run_task(build: Build, work: Work) -> TaskOutcome:
    """Apply the pending batches of a share. Editions that others hold are left to them.

    Raises WorkerFailed for errors that no batch caused.
    """
    try:
        with _connected() as connection:
            _refuse_skew(build, connection)
            return _roll_up(connection, work)
    except WorkerFailed:
        raise
    except Exception as error:
        raise WorkerFailed(own_name(), explained(error)) from None


@contextmanager
def _connected() -> Iterator[ArrowConnection]:
    """The connection of this process, which stays open for its next task. A failed task closes it."""
    url = settings.WAREHOUSE_URL.get()
    connection = _kept.pop(url, None)
    if connection is not None and not connection.answers():
        with suppress(adbc_driver_manager.Error):
            connection.close()
        connection = None
    connection = connection or connect_arrow(url)
    try:
        yield connection
    except BaseException:
        connection.close()
        raise
    _kept[url] = connection


def _refuse_skew(build: Build, connection: ArrowConnection) -> None:
    own = own_build(connection)
    differing = [
        f"{name} {own.get(name, 'none')} instead of {build.get(name, 'none')}"
        for name in sorted(own.keys() | build.keys())
        if own.get(name) != build.get(name)
    ]
    if differing:
        raise VersionSkew(own_name(), ", ".join(differing))


def _roll_up(connection: ArrowConnection, work: Work) -> TaskOutcome:
    # The driver has migrated the warehouse, to the revision of this program: see `_refuse_skew`.
    name = f"{TASK}{socket.gethostname()}"
    run = JobRun(name, f"{len(work.editions)} shops", connection=connection)
    run.started_at = work.started_at
    left: list[int] | tuple[int, ...] = work.editions
    # The outcome says what the run's error does.
    with suppress(CommandFailed, Stopped), run:
        drain = Drain(
            run,
            lambda: editions_numbered(run.connection, list(work.editions)),
            only_due=work.only_due,
            waits=False,
        )
        drain.drain()
        left = drain.left
    record = run.record
    return TaskOutcome(
        record.rows, record.batches, frozenset(record.shops), dict(run.failures), tuple(left)
    )

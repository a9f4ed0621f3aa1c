"""The task: one share of the work, done by a worker over connections of its own.

A worker takes its settings from its own environment; no address or password travels. It refuses to work
where its program or its settings would make other figures than the driver's.
"""

import socket
from contextlib import suppress
from typing import Final, NamedTuple

from jobs.executors.errors import VersionSkew, WorkerFailed
from jobs.pipeline.drain import Drain
from jobs.run.errors import CommandFailed, explained
from jobs.run.job_run import JobRun
from jobs.run.signals import Stopped
from warehouse import settings
from warehouse.catalogue import LOGIC_VERSION
from warehouse.connections.arrow import open_arrow
from warehouse.editions.editions import editions_numbered
from warehouse.migrations.migrate import HEAD
from warehouse.operations.job_runs import TASK
from warehouse.operations.process_id import own_name

# A worker has three connections: its run's, the heartbeat's, and this many for reading ahead.
_READERS: Final = 1

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
    between: tuple[int, int]
    started_at: int
    only_due: bool


def own_build() -> Build:
    """The settings and versions with which this process makes figures. Raises as `open_arrow`."""
    with open_arrow(settings.WAREHOUSE_URL.get()) as connection:
        identity = connection.identity()
    return {
        "logic version": str(LOGIC_VERSION),
        "schema revision": HEAD,
        "ATTRIBUTION_WINDOW_DAYS": str(settings.ATTRIBUTION_WINDOW_DAYS.get()),
        # As the server tells it: hosts may spell its address in different ways.
        "warehouse (the one that WAREHOUSE_URL names)": identity,
    }


def run_task(build: Build, work: Work) -> TaskOutcome:
    """Apply the pending batches of a share. Editions that others hold are left to them.

    Raises WorkerFailed for errors that no batch caused.
    """
    try:
        _refuse_skew(build)
        return _roll_up(work)
    except WorkerFailed:
        raise
    except Exception as error:
        raise WorkerFailed(own_name(), explained(error)) from None


def _refuse_skew(build: Build) -> None:
    own = own_build()
    differing = [
        f"{name} {own.get(name, 'none')} instead of {build.get(name, 'none')}"
        for name in sorted(own.keys() | build.keys())
        if own.get(name) != build.get(name)
    ]
    if differing:
        raise VersionSkew(own_name(), ", ".join(differing))


def _roll_up(work: Work) -> TaskOutcome:
    # The driver has migrated the warehouse, to the revision of this program: see `_refuse_skew`.
    run = JobRun(f"{TASK}{socket.gethostname()}", f"{len(work.editions)} shops", migrates=False)
    run.started_at = work.started_at
    left: list[int] | tuple[int, ...] = work.editions
    # The outcome says what the run's error does.
    with suppress(CommandFailed, Stopped), run:
        drain = Drain(
            run,
            lambda: editions_numbered(run.connection, list(work.editions)),
            only_due=work.only_due,
            waits=False,
            between=work.between,
            readers=_READERS,
        )
        drain.drain()
        left = drain.left
    record = run.record
    return TaskOutcome(
        record.rows, record.batches, frozenset(record.shops), dict(run.failures), tuple(left)
    )

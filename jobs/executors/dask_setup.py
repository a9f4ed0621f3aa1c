"""The preload of `dask scheduler` and of `dask worker`: `--preload jobs.executors.dask_setup`.

A scheduler gets the options that rollups need. A worker with more than one thread does not start; on
SIGTERM a worker ends after its batch, as any job does.
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from typing import Any, Final

import dask
from distributed import Scheduler, Worker, get_worker

from jobs.executors.errors import VersionSkew, WorkerFailed
from jobs.run.console import say
from jobs.run.signals import stop_in_time

READY: Final = "formrevenue"
"""The key of a scheduler's metadata that says that this module was loaded."""

# A worker that says nothing for so long counts as dead: longer than any pause of a busy machine.
_WORKER_TTL_SECONDS: Final = 600.0
_USAGE: Final = 2

# A scheduler reads this when it is made. The driver submits no task that would have to wait.
dask.config.set({"distributed.scheduler.work-stealing": False})

_is_set_up = False


async def dask_setup(server: Scheduler | Worker) -> None:
    """Dask calls this when a scheduler or a worker starts."""
    global _is_set_up
    if isinstance(server, Scheduler):
        server.worker_ttl = _WORKER_TTL_SECONDS
        # A death is told at once: only the driver knows how to go on.
        server.allowed_failures = 0
        server.task_metadata[READY] = True
    elif server.state.nthreads != 1:
        say(f"a worker must have one thread (it has {server.state.nthreads}): use --nthreads 1")
        sys.stderr.flush()
        # Dask only logs what a preload raises.
        os._exit(_USAGE)
    _is_set_up = True


async def dask_teardown(server: Scheduler | Worker) -> None:
    """Dask calls this when a scheduler or a worker ends."""
    if isinstance(server, Worker):
        await asyncio.to_thread(stop_in_time)


def on_worker(task: Callable[..., Any], *args: Any) -> str:
    """Run a task on the worker of this process; its outcome as JSON, or how the worker has failed
    (`plain_results.outcome` reads it). A failed worker is named by its address."""
    failed = {"worker": get_worker().address, "is_skew": False}
    if not _is_set_up:
        reason = "it was started without --preload jobs.executors.dask_setup"
        return json.dumps({**failed, "reason": reason})
    try:
        return json.dumps({"done": task(*args)}, default=list)
    except WorkerFailed as error:
        is_skew = isinstance(error, VersionSkew)
        return json.dumps({**failed, "is_skew": is_skew, "reason": error.reason})

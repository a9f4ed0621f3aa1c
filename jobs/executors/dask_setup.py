"""The preload of `dask scheduler` and of `dask worker`: `--preload jobs.executors.dask_setup`.

A scheduler gets the options that rollups need. A worker with more than one thread does not start; on
SIGTERM a worker ends after its batch, as any job does.
"""

import asyncio
import os
import sys
from collections.abc import Callable
from typing import Final

import dask
from distributed import Scheduler, Worker

from jobs.run.console import say
from jobs.run.signals import stop_in_time

READY: Final = "formrevenue"
"""The key of a scheduler's metadata that says that this module was loaded."""

# A worker that says nothing for so long counts as dead: longer than any pause of a busy machine.
_WORKER_TTL_SECONDS: Final = 600.0
_USAGE: Final = 2

# Schedulers and workers read these when they are made, after this module.
dask.config.set(
    {
        # Each task is one worker's own.
        "distributed.scheduler.work-stealing": False,
        # Else Dask looks a hundred times a second where each task is, and fifty times whether a scheduler
        # answers: some hundredths of a processor, all night.
        "distributed.worker.profile.enabled": False,
        "distributed.admin.tick.interval": "500ms",
    }
)

_is_set_up = False


async def dask_setup(server: Scheduler | Worker) -> None:
    """Dask calls this when a scheduler or a worker starts."""
    global _is_set_up
    if isinstance(server, Scheduler):
        server.worker_ttl = _WORKER_TTL_SECONDS
        # A death is told at once: others take the leases of its worker over.
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


def on_worker(task: Callable[[str], str], request: str) -> str:
    """Run a task on the worker of this process; its answer, or why there is none."""
    if not _is_set_up:
        return "it was started without --preload jobs.executors.dask_setup"
    return task(request)

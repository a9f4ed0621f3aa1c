"""A worker's rollup: the ordinary worker loop for the editions of another run, over connections of its own.

A worker takes its settings from its own environment; no address or password travels. It refuses to work
where its program or its settings would make other figures than the run's. It ends after the group of
batches at hand once that run has ended, however it did.
"""

import json
import socket
import sys
from contextlib import suppress

from jobs.executors.share import DONE, Request, fingerprint
from jobs.pipeline.worker_loop import WorkerLoop
from jobs.run.errors import CommandFailed, explained
from jobs.run.job_run import JobRun
from jobs.run.signals import Stopped, end_process, run_interruptibly
from warehouse import settings
from warehouse.connections.arrow import open_arrow
from warehouse.editions.editions import Edition, editions_numbered
from warehouse.environment import hide_memory
from warehouse.operations import job_runs


def work(text: str) -> str:
    """Apply the pending batches of a request (`Request.as_text`) that no other process holds. Returns
    DONE, or why this worker cannot, through no fault of a batch."""
    request = Request(**json.loads(text))
    try:
        # A run would migrate the warehouse: the other one has, to the revision of its program.
        with open_arrow(settings.WAREHOUSE_URL.get()) as connection:
            own, due = fingerprint(connection), request.fingerprint
        differing = [
            f"{name} {own.get(name, 'none')} instead of {due.get(name, 'none')}"
            for name in sorted(own.keys() | due.keys())
            if own.get(name) != due.get(name)
        ]
        if differing:
            return f"it has {', '.join(differing)}"
        _roll_up(request)
    except Exception as error:
        return explained(error)
    return DONE


def _roll_up(request: Request) -> None:
    run = JobRun(f"{job_runs.TASK}{socket.gethostname()}", request.arguments, creates=False)
    # Batches that have failed in the run that asks, here or elsewhere, are not tried again in it.
    run.started_at = request.started_at
    # That run counts and tells what is on record; it may not hear how this worker ends.
    run.tell = lambda _failure: None
    run.on_rows = lambda _rows: job_runs.update(
        run.connection, run.record, run.connection.now_micros()
    )

    def plan() -> list[Edition]:
        # By the server's clock, as the driver's heartbeat is: this host's own may be minutes behind.
        if not job_runs.is_running(run.connection, request.run_id, run.connection.now_micros()):
            return []
        return editions_numbered(run.connection, request.editions)

    # Its record says how it ended, and the warehouse what became of the batches.
    with suppress(CommandFailed, Stopped), run:
        WorkerLoop(
            run,
            plan,
            only_due=request.only_due,
            waits=False,
            claimed_rows=request.claimed_rows,
            is_apart=request.is_apart,
        ).run()


def _serve() -> None:
    answer = work(sys.stdin.read())
    # The run that asks may have been killed.
    with suppress(BrokenPipeError):
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    hide_memory()
    end_process(run_interruptibly(_serve))

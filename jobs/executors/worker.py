"""A worker's rollup: the ordinary drain into the editions of a driver's run, over connections of its own.

A worker takes its settings from its own environment; no address or password travels. It refuses to work
where its program or its settings would make other figures than the driver's. It ends after the group of
batches at hand once the driver's run has ended, however that did.
"""

import json
import socket
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Final

from jobs.pipeline.drain import Drain
from jobs.run.errors import CommandFailed, explained
from jobs.run.job_run import JobRun
from jobs.run.signals import Stopped, run_interruptibly
from warehouse import settings
from warehouse.catalogue import LOGIC_VERSION
from warehouse.connections.arrow import ArrowConnection, open_arrow
from warehouse.domain import zones
from warehouse.editions.editions import Edition, editions_numbered
from warehouse.environment import hide_memory
from warehouse.migrations.migrate import HEAD
from warehouse.operations import job_runs

DONE: Final = "done"
"""The answer of a worker that has done what it could."""


@dataclass(frozen=True)
class Request:
    """All that a worker is told.

    - `fingerprint`: the settings and versions that must be the same on all workers, by name
    - `run_id`, `started_at`: the driver's run, and when it began
    - `editions`: those that must be up to date; `only_due`, `claimed_rows`: see `Drain`
    - `arguments`: of the record of each worker
    """

    fingerprint: dict[str, str]
    run_id: int
    started_at: int
    editions: list[int]
    only_due: bool
    claimed_rows: int
    arguments: str

    def as_text(self) -> str:
        return json.dumps(asdict(self))


def fingerprint(connection: ArrowConnection) -> dict[str, str]:
    """The settings and versions with which this process makes figures. Commits."""
    return {
        "logic version": str(LOGIC_VERSION),
        "schema revision": HEAD,
        "time zone rules": zones.VERSION,
        "ATTRIBUTION_WINDOW_DAYS": str(settings.ATTRIBUTION_WINDOW_DAYS.get()),
        # As the server tells it: hosts may spell its address in different ways.
        "warehouse (the one that WAREHOUSE_URL names)": connection.identity(),
    }


def work(text: str) -> str:
    """Apply the pending batches of a request (`Request.as_text`) that no other process holds. Returns
    DONE, or why this worker cannot, through no fault of a batch."""
    request = Request(**json.loads(text))
    try:
        # Before a run would migrate the warehouse: the driver has done it, to the revision of this program.
        with open_arrow(settings.WAREHOUSE_URL.get()) as connection:
            own = fingerprint(connection)
        if differing := _differing(own, request.fingerprint):
            return f"it has {differing}"
        _roll_up(request)
    except Exception as error:
        return explained(error)
    return DONE


def _differing(own: dict[str, str], due: dict[str, str]) -> str:
    return ", ".join(
        f"{name} {own.get(name, 'none')} instead of {due.get(name, 'none')}"
        for name in sorted(own.keys() | due.keys())
        if own.get(name) != due.get(name)
    )


def _roll_up(request: Request) -> None:
    run = JobRun(f"{job_runs.TASK}{socket.gethostname()}", request.arguments, creates=False)
    # Batches that have failed in the driver's run, here or elsewhere, are not tried again in it.
    run.started_at = request.started_at
    # The driver counts what is on record; it may not hear how this worker ends.
    run.on_rows = lambda _rows: job_runs.update(
        run.connection, run.record, run.connection.now_micros()
    )

    def plan() -> list[Edition]:
        # By the server's clock, as the driver's sign of life is: this host's own may be minutes behind.
        if not job_runs.is_running(run.connection, request.run_id, run.connection.now_micros()):
            return []
        return editions_numbered(run.connection, request.editions)

    # Its record says how it ended, and the warehouse what became of the batches.
    with suppress(CommandFailed, Stopped), run:
        Drain(
            run,
            plan,
            only_due=request.only_due,
            waits=False,
            claimed_rows=request.claimed_rows,
        ).drain()


def _serve() -> None:
    answer = work(sys.stdin.read())
    # The driver may have been killed.
    with suppress(BrokenPipeError):
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    hide_memory()
    sys.exit(run_interruptibly(_serve))

"""The share of a run that workers do: what they are told, and what the warehouse tells of their work."""

import json
from dataclasses import asdict, dataclass
from typing import Final

from jobs.run.job_run import JobRun
from warehouse import settings
from warehouse.catalogue import LOGIC_VERSION
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import ZONES_VERSION
from warehouse.editions import editions, pending_batches
from warehouse.migrations.migrate import HEAD
from warehouse.operations import job_runs

DONE: Final = "done"
"""The answer of a worker that has done what it could."""


@dataclass(frozen=True)
class Request:
    """All that a worker is told.

    - `fingerprint`: the settings and versions that must be the same on all workers, by name
    - `run_id`, `started_at`: the run that asks, and when it began
    - `editions`: those that must be up to date; `only_due`, `claimed_rows`, `is_apart`: see `WorkerLoop`
    - `arguments`: of the record of each worker
    """

    fingerprint: dict[str, str]
    run_id: int
    started_at: int
    editions: list[int]
    only_due: bool
    claimed_rows: int
    arguments: str
    is_apart: bool = False

    def as_text(self) -> str:
        return json.dumps(asdict(self))


def fingerprint(connection: ArrowConnection) -> dict[str, str]:
    """The settings and versions with which this process makes figures. Commits."""
    return {
        "logic version": str(LOGIC_VERSION),
        "schema revision": HEAD,
        "time zone rules": ZONES_VERSION,
        "ATTRIBUTION_WINDOW_DAYS": str(settings.ATTRIBUTION_WINDOW_DAYS.get()),
        # As the server tells it: hosts may spell its address in different ways.
        "warehouse (the one that WAREHOUSE_URL names)": connection.identity(),
    }


class Share:
    """The editions of a run that its workers roll up. `rows`: the raw rows that these lacked."""

    def __init__(self, run: JobRun, numbers: list[int]) -> None:
        self._run, self._connection, self.numbers = run, run.connection, numbers
        self.rows = self._left = pending_batches.pending_rows(self._connection, numbers)
        self._arguments = f"{len(numbers)} shops of run {run.record.run_id}"
        # The rows and batches of workers that are in the run's record.
        self._told = 0, 0
        self._last_run = job_runs.last_run(self._connection)

    def request(self, *, only_due: bool, claimed_rows: int, is_apart: bool = False) -> str:
        """The request to each worker, as `worker.work` reads it. Commits."""
        return Request(
            fingerprint(self._connection),
            self._run.record.run_id,
            self._run.started_at,
            self.numbers,
            only_due,
            claimed_rows,
            self._arguments,
            is_apart,
        ).as_text()

    def read(self) -> None:
        """Bring the run's record and its progress up to date. Commits."""
        self.count()
        left = pending_batches.pending_rows(self._connection, self.numbers)
        self._connection.commit()
        self._run.on_rows(max(self._left - left, 0))
        self._left = min(self._left, left)

    def count(self) -> None:
        """Bring the run's record up to date. Commits."""
        record, connection = self._run.record, self._connection
        tasks = job_runs.sums_of_tasks(connection, self._arguments, after=self._last_run)
        record.rows += tasks[0] - self._told[0]
        record.batches += tasks[1] - self._told[1]
        self._told = tasks
        record.shops |= editions.rolled_up_since(connection, self.numbers, self._run.started_at)
        connection.commit()

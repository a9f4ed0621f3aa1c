"""The heartbeat of a scheduler: a thread that records what it runs, and what lies in its landing folder.

`status`, the metrics and `/readyz` read its record (`warehouse/operations/conditions.py`).
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock
from typing import Final

from jobs.landing import folder
from jobs.scheduler import host_findings
from jobs.scheduler.schedule import Job
from warehouse.connections.arrow import ArrowConnection, open_arrow
from warehouse.domain.time import from_micros, to_micros
from warehouse.operations import job_runs
from warehouse.operations.process_id import new_owner
from warehouse.operations.schedulers import SchedulerRecord, record_heartbeat

# Well below the time after which a scheduler counts as missing.
_SECONDS: Final = 20.0


class SchedulerHeartbeat:
    """The heartbeat of one scheduler: `with beating(SchedulerHeartbeat(...).beat)`. `jobs` are those of the
    moment; who holds `warehouse` has the only connection of the process. A heartbeat that cannot be written,
    since the warehouse does not answer or another process writes, is left out."""

    def __init__(
        self, url: str, landing: Path, jobs: Callable[[], Sequence[Job]], warehouse: Lock
    ) -> None:
        self._url, self._landing, self._jobs = url, landing, jobs
        self._warehouse = warehouse
        self._owner, self._started_at = new_owner(), 0

    def beat(self, over: Event) -> None:
        while True:
            with (
                self._warehouse,
                suppress(Exception),
                open_arrow(self._url, wait_for_locks=False) as connection,
            ):
                record_heartbeat(connection, self._record(connection))
            if over.wait(_SECONDS):
                return

    def _record(self, connection: ArrowConnection) -> SchedulerRecord:
        # All who look at it compare it with the database server's clock.
        now, jobs = connection.now_micros(), self._jobs()
        self._started_at = self._started_at or now
        times = [time for job in jobs if (time := job.next_time(from_micros(now)))]
        survey = folder.survey(self._landing)
        files, since = waiting_files(survey, claim_in_hand(connection))
        return SchedulerRecord(
            owner=self._owner,
            started_at=self._started_at,
            seen_at=now,
            due_at=to_micros(min(times)),
            schedule=[job.as_stored for job in jobs],
            landing_folder=str(self._landing),
            landed_files=len(files),
            landed_since=since,
            host_findings=host_findings.find(self._landing, survey, connection),
        )


def claim_in_hand(connection: ArrowConnection) -> str:
    """The claim (`LandedFile.claim`) of the file that is being imported, "" if none is. Commits."""
    rows = connection.table(
        "SELECT * FROM job_run WHERE job = 'landing' ORDER BY run_id DESC LIMIT 1"
    ).to_pylist()
    connection.commit()
    runs = [job_runs.at(row, connection.now_micros()) for row in rows]
    return "".join(run["arguments"] for run in runs if run["state"] == job_runs.RUNNING)


def waiting_files(survey: folder.Survey, claim: str) -> tuple[list[folder.LandedFile], int]:
    """The files in the landing folder but the one in hand, and when the oldest landed (0 without one)."""
    files = [file for file in survey.files if file.claim != claim]
    return files, min((file.landed_at for file in files), default=0)

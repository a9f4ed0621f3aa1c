"""The processes of the scheduled jobs: one for each run, told to stop with their parent."""

import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock
from typing import Final

from jobs.landing import folder
from jobs.run.console import say
from jobs.run.errors import ALREADY_RUNNING
from jobs.run.signals import GRACE_SECONDS
from jobs.scheduler.schedule import DROPPED, Job
from warehouse.connections.arrow import open_arrow
from warehouse.operations import tasks
from warehouse.operations.tasks import LAND, LOOK

# A child ends itself some time after GRACE_SECONDS. One that has not is killed, which harms nothing.
KILL_AFTER_SECONDS: Final = GRACE_SECONDS + 1.5
# How long the landing folder is left alone after its files could not be imported.
_FIRST_PAUSE_SECONDS: Final = 10.0
_LONGEST_PAUSE_SECONDS: Final = 60.0


class ChildProcesses:
    """Runs jobs as child processes. `run` is called by one thread per job."""

    def __init__(self, url: str, landing: Path) -> None:
        self._url = url
        # Two connections of one process to a file of SQLite lose each other's locks.
        self.warehouse = Lock()
        self._landing = landing
        self._files: set[folder.LandedFile] = set()
        self._pause, self._paused_until = 0.0, 0.0
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._stopping = False
        self._over = Event()
        self._lock = Lock()

    def run(self, job: Job) -> None:
        """Run a job in a child process, to its end; `landing` and `dropped` only where files are waiting."""
        if job.name == DROPPED:
            if self._has_dropped():
                self._run(job)
                if self._has_dropped():
                    # It failed, or another scheduler runs it: it need not be tried each second.
                    self._over.wait(_FIRST_PAUSE_SECONDS)
        elif job.name != "landing":
            self._run(job)
        elif time.monotonic() >= self._paused_until:
            # A file that has not changed since the last look is complete.
            before, self._files = self._files, set(folder.survey(self._landing).files)
            if self._files & before:
                failed = self._run(job)
                longer = min(2 * self._pause or _FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
                self._pause = longer if failed else 0.0
                self._paused_until = time.monotonic() + self._pause

    def _has_dropped(self) -> bool:
        """Whether something waits for the job; not where the warehouse does not answer now."""
        with (
            self.warehouse,
            suppress(Exception),
            open_arrow(self._url, wait_for_locks=False) as connection,
        ):
            return tasks.are_waiting(connection, (LOOK, LAND))
        return False

    def _run(self, job: Job) -> bool:
        """Run a job; returns whether it failed. One that another scheduler runs has not failed."""
        command = [sys.executable, "-m", "jobs", *job.arguments]
        with self._lock:
            if self._stopping:
                return False
            child = self._running[job.name] = subprocess.Popen(command)
        status = child.wait()
        with self._lock:
            del self._running[job.name]
            failed = status not in (0, ALREADY_RUNNING)
            if failed and not self._stopping:
                say(f"{job.name} failed with exit status {status}")
        return failed

    def stop(self) -> None:
        """Start no more jobs, and stop those that run; kill what has not stopped in time."""
        with self._lock:
            self._stopping = True
            self._over.set()
            children = list(self._running.values())
        for child in children:
            child.terminate()
        deadline = time.monotonic() + KILL_AFTER_SECONDS
        for child in children:
            try:
                child.wait(max(deadline - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                child.kill()

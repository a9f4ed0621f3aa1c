"""The turns of the scheduled jobs: each a child process, told to end with its parent."""

import subprocess
import sys
import time
from pathlib import Path
from threading import Lock
from typing import Final

from jobs.landing import folder
from jobs.running import TAKEN
from jobs.schedule import Job
from jobs.telling import say

# From the signal until a child that has not ended by then is killed, which harms nothing.
_GRACE_SECONDS: Final = 8.5
# How long a job that is looked for often is left alone after it could not run.
_LONGEST_REST: Final = 60.0


class Turns:
    """What runs, and what ran last; used by one thread for each job."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._seen: set[folder.Found] = set()
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._taken: set[str] = set()
        self._failures = 0
        self._rest_until = 0.0
        self._over = False
        self._lock = Lock()

    def take(self, job: Job) -> None:
        """Run a job, unless another process is at it."""
        if job.name != "landing":
            self._run(job)
        elif self._has_landed() and time.monotonic() >= self._rest_until:
            self._failures = self._failures + 1 if self._run(job) else 0
            rest = min(2.0**self._failures * 5, _LONGEST_REST) if self._failures else 0
            self._rest_until = time.monotonic() + rest

    def _has_landed(self) -> bool:
        """Whether a file is as it was at the last look, or was left half imported."""
        try:
            now = set(folder.look(self._root))
            before, self._seen = self._seen, now
            return bool(now & before or folder.in_hand(self._root))
        except OSError as error:
            say(f"landing: {error}")
            return False

    def _run(self, job: Job) -> bool:
        """Run a job to its end; whether it could not do its work."""
        words = [sys.executable, "-m", "jobs", "run", job.name]
        with self._lock:
            if self._over:
                return False
            quiet = ["--quiet"] if job.name in self._taken else []
            child = self._children[job.name] = subprocess.Popen(words + quiet)
        status = child.wait()
        with self._lock:
            del self._children[job.name]
            (self._taken.add if status == TAKEN else self._taken.discard)(job.name)
            if status and status != TAKEN and not self._over:
                say(f"{job.name}: exit status {status}")
        return status != 0

    def end(self) -> None:
        """Have all children end, and no more begin; kills those that do not end in time."""
        with self._lock:
            self._over = True
            children = list(self._children.values())
        for child in children:
            child.terminate()
        deadline = time.monotonic() + _GRACE_SECONDS
        for child in children:
            try:
                child.wait(max(deadline - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                child.kill()

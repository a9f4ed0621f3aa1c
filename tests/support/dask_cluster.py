"""A Dask cluster on this machine: a scheduler and workers, each a process as its users start it."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.support.commands import children, kill

_PRELOAD: Final = ("--preload", "jobs.executors.dask_setup")
WORKER_OPTIONS: Final = ("--nthreads", "1", *_PRELOAD)
# They end by themselves if the tests are killed.
_SCHEDULER_SECONDS: Final = "300"
_WORKER_SECONDS: Final = "60"
_START_SECONDS: Final = 60


class Cluster:
    """`workers` are those that were started, in this order; what they print is in `folder`."""

    def __init__(self, url: str, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "WAREHOUSE_URL": url}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"dask+tcp://127.0.0.1:{self.port}"
        self.workers: list[subprocess.Popen[bytes]] = []
        self._started: list[subprocess.Popen[bytes]] = []

    def start_scheduler(self, *options: str) -> subprocess.Popen[bytes]:
        where = ("--host", "127.0.0.1", "--port", str(self.port), "--dashboard-address", ":0")
        idle = ("--idle-timeout", _SCHEDULER_SECONDS)
        process = self._start("scheduler", {}, *where, *idle, *(options or _PRELOAD))
        self.scheduler = process
        deadline = time.monotonic() + _START_SECONDS
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return process
            assert process.poll() is None, self.printed("scheduler")
            assert time.monotonic() < deadline
            time.sleep(0.1)

    def start_worker(
        self, *options: str, nanny: bool = True, **environment: str
    ) -> subprocess.Popen[bytes]:
        worker = self._start(
            "worker",
            environment,
            *(f"tcp://127.0.0.1:{self.port}", "--host", "127.0.0.1", "--no-dashboard"),
            *("--death-timeout", _WORKER_SECONDS, "--local-directory", str(self.folder)),
            "--nanny" if nanny else "--no-nanny",
            *(options or WORKER_OPTIONS),
        )
        self.workers.append(worker)
        return worker

    def wait_for_workers(self, count: int) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while self.printed("scheduler").count("Register worker") < count:
            assert time.monotonic() < deadline, self.printed("worker")
            time.sleep(0.1)

    def pids_of(self, worker: subprocess.Popen[bytes]) -> set[int]:
        """The processes of a worker: its nanny, and the one that does the tasks."""
        return {worker.pid, *(child.pid for child in children(worker.pid))}

    def printed(self, kind: str) -> str:
        """All that the processes of a kind (scheduler, worker) have printed."""
        return "".join(file.read_text() for file in sorted(self.folder.glob(f"{kind}-*.log")))

    def end(self) -> None:
        for process in reversed(self._started):
            if process.poll() is None:
                kill(process.pid)
            process.wait()

    def _start(
        self, kind: str, environment: dict[str, str], *options: str
    ) -> subprocess.Popen[bytes]:
        with (self.folder / f"{kind}-{len(self._started)}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", kind, *options],
                env={**self.environment, **environment},
                stdout=log,
                stderr=log,
            )
        self._started.append(process)
        return process


@contextmanager
def dask_cluster(url: str, folder: Path, workers: int) -> Iterator[Cluster]:
    """A scheduler with so many workers, which are there when the block begins."""
    folder.mkdir(parents=True, exist_ok=True)
    cluster = Cluster(url, folder)
    try:
        cluster.start_scheduler()
        for _ in range(workers):
            cluster.start_worker()
        cluster.wait_for_workers(workers)
        yield cluster
    finally:
        cluster.end()

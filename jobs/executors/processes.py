"""Processes of this machine as an engine: each is `python -m jobs.executors.worker`."""

import signal
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from subprocess import PIPE, Popen, TimeoutExpired
from typing import Final

from jobs.executors.engine import Engine
from jobs.run.errors import Told
from jobs.run.signals import GRACE_SECONDS

_WORKER: Final = "jobs.executors.worker"
# A process that is stopped ends by itself before that, unless it is frozen.
_STOP_SECONDS: Final = GRACE_SECONDS + 3


class WorkerDied(Told):
    """A process has ended before its work, and how."""


class Processes(Engine):
    deaths = (WorkerDied,)

    def __init__(self, count: int) -> None:
        self._names = {f"process {number}" for number in range(1, count + 1)}
        self._started: list[Popen[str]] = []
        self._readers = ThreadPoolExecutor(count)

    def workers(self) -> set[str]:
        return self._names

    def start(self, worker: str, request: str) -> Future[str]:
        # A group of its own: Ctrl-C is for the run that starts it.
        command = [sys.executable, "-m", _WORKER]
        process = Popen(command, stdin=PIPE, stdout=PIPE, text=True, process_group=0)
        self._started.append(process)
        return self._readers.submit(_answer, process, request)

    def close(self) -> None:
        for process in self._started:
            process.terminate()
        for process in self._started:
            with suppress(TimeoutExpired):
                process.wait(_STOP_SECONDS)
            process.kill()
        self._readers.shutdown()


def _answer(process: Popen[str], request: str) -> str:
    answer = process.communicate(request)[0]
    if process.returncode:
        status = process.returncode
        raise WorkerDied(signal.Signals(-status).name if status < 0 else f"exit status {status}")
    return answer.strip()

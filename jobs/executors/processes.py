"""Processes of this machine as an engine: each is `python -m jobs.executors.worker`."""

import sys
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from subprocess import PIPE, Popen, TimeoutExpired
from typing import Final

from jobs.executors.engine import Engine, WorkerDied
from jobs.pipeline.apart import how_it_ended
from jobs.run.signals import GRACE_SECONDS

_WORKER: Final = "jobs.executors.worker"
# A process that is stopped ends by itself before that, unless it is frozen.
_STOP_SECONDS: Final = GRACE_SECONDS + 3


class Processes(Engine):
    deaths = (WorkerDied,)
    grows = False

    def __init__(self, count: int) -> None:
        self._names = {f"process {number}" for number in range(1, count + 1)}
        self._started: list[Popen[str]] = []
        self._readers = ThreadPoolExecutor(count)

    def workers(self) -> set[str]:
        return self._names

    def start(self, worker: str, request: str) -> Future[str]:
        # A group of its own: Ctrl-C is for the driver.
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
        raise WorkerDied(how_it_ended(process.returncode))
    return answer.strip()

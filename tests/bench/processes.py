"""Real processes, and what they took."""

import os
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from tests.bench.databases import server_process

# A shorter run (in seconds) is measured so many times, and its median stands; a longer one once.
SHORT: Final = 5
TIMES: Final = 3
_BETWEEN_LOOKS: Final = 0.05
_PEAK: Final = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)


@dataclass(frozen=True)
class Took:
    """Wall-clock seconds, the peak memory of the process in MB (0 where there is no /proc, or none was
    started), and the seconds of processor time: of the process, of those that it waited for, and of the
    database."""

    seconds: float
    peak_mb: float
    cpu: float

    def __add__(self, other: "Took") -> "Took":
        """The cost of two, one after the other."""
        seconds, cpu = self.seconds + other.seconds, self.cpu + other.cpu
        return Took(seconds, max(self.peak_mb, other.peak_mb), cpu)


def run(url: str, *words: str | Path, settings: dict[str, str] | None = None) -> Took:
    """`python -m WORDS...` on the warehouse; raises with its last words where it fails."""
    peak = 0.0

    def finish() -> None:
        nonlocal peak
        process = subprocess.Popen(
            [sys.executable, "-m", *map(str, words)],
            env=os.environ | {"WAREHOUSE_URL": url} | (settings or {}),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        complaint = None
        while complaint is None:
            peak = max(peak, peak_mb(process.pid))
            with suppress(subprocess.TimeoutExpired):
                _, complaint = process.communicate(timeout=_BETWEEN_LOOKS)
        if process.returncode:
            said = complaint.strip()[-2000:]
            command = " ".join(map(str, words))
            raise RuntimeError(f"{command}: exit {process.returncode}: {said}")

    took = timed(url, finish)
    return Took(took.seconds, peak, took.cpu)


def timed(url: str, action: Callable[[], object]) -> Took:
    """The time of something that this process does on a warehouse, or waits for."""
    server = server_process(url)
    began, cpu = time.perf_counter(), _cpu(server)
    action()
    return Took(time.perf_counter() - began, 0, _cpu(server) - cpu)


def median(measure: Callable[[], Took], first: Took | None = None) -> Took:
    """The median times and the greatest peak of `TIMES`; of one alone, where that was not short."""
    taken = [first or measure()]
    while taken[0].seconds < SHORT and len(taken) < TIMES:
        taken.append(measure())
    return Took(
        statistics.median(one.seconds for one in taken),
        max(one.peak_mb for one in taken),
        statistics.median(one.cpu for one in taken),
    )


def _cpu(server: psutil.Process | None) -> float:
    """Seconds of processor time so far, of this process, of those that it waited for, and of the database."""
    parts = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    spent = sum(part.ru_utime + part.ru_stime for part in parts)
    if server:
        own = server.cpu_times()
        spent += own.children_user + own.children_system
        for one in server.children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                times = one.cpu_times()
                spent += times.user + times.system
    return spent


def peak_mb(pid: int) -> float:
    """The most memory that a running process ever had, in MB. `getrusage` would tell the size that the
    parent, which is this very process with all its data, had when it started it."""
    try:
        found = _PEAK.search(Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) / 1024 if found else 0

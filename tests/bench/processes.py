"""Real processes, and what they took."""

import os
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

import psutil

# A shorter run (in seconds) is measured so many times, and its median stands; a longer one once.
SHORT: Final = 5
TIMES: Final = 3
_BETWEEN_LOOKS: Final = 0.05
_BETWEEN_LOOKS_AT_ALL: Final = 0.5
_PEAK: Final = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)


@dataclass(frozen=True)
class Took:
    """Wall-clock seconds, the peak memory of the process in MB (0 where there is no /proc), and the
    seconds of processor time of the process and of those that it waited for (0: not measured)."""

    seconds: float
    peak_mb: float
    cpu: float = 0

    def as_dict(self, **more: Any) -> dict[str, Any]:
        return {name: round(value, 3) for name, value in asdict(self).items()} | more


def run(url: str, *words: str | Path, fine: tuple[int, ...] = (0,)) -> Took:
    """`python -m WORDS...` on the warehouse; raises with its last words where it fails, which is to
    end with another status than is `fine`."""
    began, cpu = time.perf_counter(), _cpu_of_children()
    process = subprocess.Popen(
        [sys.executable, "-m", *map(str, words)],
        env=os.environ | {"WAREHOUSE_URL": url},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    peak, complaint = 0.0, None
    while complaint is None:
        peak = max(peak, peak_mb(process.pid))
        try:
            _, complaint = process.communicate(timeout=_BETWEEN_LOOKS)
        except subprocess.TimeoutExpired:
            continue
    if process.returncode not in fine:
        said = complaint.strip()[-2000:]
        raise RuntimeError(f"{' '.join(map(str, words))}: exit {process.returncode}: {said}")
    return Took(time.perf_counter() - began, peak, _cpu_of_children() - cpu)


def median(measure: Callable[[], Took], first: Took | None = None) -> Took:
    """The median time and the greatest peak of `TIMES`; of one alone, where that was not short."""
    taken = [first or measure()]
    while taken[0].seconds < SHORT and len(taken) < TIMES:
        taken.append(measure())
    return Took(statistics.median(one.seconds for one in taken), max(one.peak_mb for one in taken))


def together(taken: Sequence[Took]) -> Took:
    """The cost of several, one after the other: their times, and the greatest peak."""
    return Took(
        sum(one.seconds for one in taken),
        max(one.peak_mb for one in taken),
        sum(one.cpu for one in taken),
    )


def timed(action: Callable[[], object]) -> Took:
    """The time of something that this process does itself; its memory is not told."""
    began = time.perf_counter()
    action()
    return Took(time.perf_counter() - began, 0)


def cpu_below(process: psutil.Process) -> float:
    """Seconds of processor time of all descendants of a process, also of those that have ended."""
    own = process.cpu_times()
    spent = own.children_user + own.children_system
    for one in process.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            times = one.cpu_times()
            spent += times.user + times.system + times.children_user + times.children_system
    return spent


@contextmanager
def watching(look: Callable[[], None]) -> Iterator[None]:
    """During the block, and once at its end, look at what runs. A look at all processes takes time that
    they lack, so there are few."""
    over = Event()

    def watch() -> None:
        while not over.wait(_BETWEEN_LOOKS_AT_ALL):
            look()

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    look()


def _cpu_of_children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def peak_mb(pid: int) -> float:
    """The most memory that a running process ever had, in MB. `getrusage` would tell the size that the
    parent, which is this very process with all its data, had when it started it."""
    try:
        found = _PEAK.search(Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) / 1024 if found else 0

"""Real processes, and what they took."""

import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

# A shorter run (in seconds) is measured so many times, and its median stands; a longer one once.
SHORT: Final = 5
TIMES: Final = 3
_BETWEEN_LOOKS: Final = 0.05
_PEAK: Final = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)


@dataclass(frozen=True)
class Took:
    """Wall-clock seconds, and the peak memory of the process in MB (0 where there is no /proc)."""

    seconds: float
    peak_mb: float

    def as_dict(self, **more: Any) -> dict[str, Any]:
        return {name: round(value, 3) for name, value in asdict(self).items()} | more


def run(url: str, *words: str | Path, fine: tuple[int, ...] = (0,)) -> Took:
    """`python -m WORDS...` on the warehouse; raises with its last words where it fails, which is to
    end with another status than is `fine`."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", *map(str, words)],
        env=os.environ | {"WAREHOUSE_URL": url},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    peak_kb, complaint = 0, None
    while complaint is None:
        peak_kb = max(peak_kb, _peak_kb(process.pid))
        try:
            _, complaint = process.communicate(timeout=_BETWEEN_LOOKS)
        except subprocess.TimeoutExpired:
            continue
    if process.returncode not in fine:
        said = complaint.strip()[-2000:]
        raise RuntimeError(f"{' '.join(map(str, words))}: exit {process.returncode}: {said}")
    return Took(time.perf_counter() - began, peak_kb / 1024)


def median(measure: Callable[[], Took], first: Took | None = None) -> Took:
    """The median time and the greatest peak of `TIMES`; of one alone, where that was not short."""
    taken = [first or measure()]
    while taken[0].seconds < SHORT and len(taken) < TIMES:
        taken.append(measure())
    return Took(statistics.median(one.seconds for one in taken), max(one.peak_mb for one in taken))


def timed(action: Callable[[], object]) -> Took:
    """The time of something that this process does itself; its memory is not told."""
    began = time.perf_counter()
    action()
    return Took(time.perf_counter() - began, 0)


def _peak_kb(pid: int) -> int:
    """The most memory that a running process ever had. `getrusage` would tell the size that the
    parent, which is this very process with all its data, had when it started it."""
    try:
        found = _PEAK.search(Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) if found else 0

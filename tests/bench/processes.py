"""Real processes, and what they took."""

import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Took:
    """Wall-clock seconds, and the peak memory of the process in MB."""

    seconds: float
    peak_mb: float

    def as_dict(self, **more: Any) -> dict[str, Any]:
        return {name: round(value, 3) for name, value in asdict(self).items()} | more


def run(url: str, *words: str | Path) -> Took:
    """`python -m WORDS...` on the warehouse; raises with its last words where it fails."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", *map(str, words)],
        env=os.environ | {"WAREHOUSE_URL": url},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr
    complaint = process.stderr.read()
    # wait4 and not `wait`, for the memory of this very process.
    _, status, usage = os.wait4(process.pid, 0)
    process.stderr.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        said = complaint.decode(errors="replace").strip()[-2000:]
        raise RuntimeError(f"{' '.join(map(str, words))}: exit {process.returncode}: {said}")
    return Took(time.perf_counter() - began, usage.ru_maxrss / 1024)

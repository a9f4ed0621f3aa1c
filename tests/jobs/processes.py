"""What a process has started, and its end."""

from contextlib import suppress

import psutil


def children(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


def kill(pid: int) -> None:
    """A process and what it started, each of which may end by itself meanwhile."""
    for process in [psutil.Process(pid), *children(pid)]:
        with suppress(psutil.NoSuchProcess):
            process.kill()

"""Commands as processes of their own; the children of a process, and how to kill them."""

import os
import subprocess
import sys
from contextlib import suppress

import psutil


def start_job(url: str, *args: str) -> "subprocess.Popen[str]":
    """Start `python -m jobs ARGS` on a warehouse."""
    return subprocess.Popen(
        [sys.executable, "-m", "jobs", *args],
        env={**os.environ, "WAREHOUSE_URL": url},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def children(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


def kill(pid: int) -> None:
    """Kill a process and its children, any of which may end by itself meanwhile."""
    for process in [psutil.Process(pid), *children(pid)]:
        with suppress(psutil.NoSuchProcess):
            process.kill()

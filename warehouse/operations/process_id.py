"""The identity of a process, as the owner of leases and of job runs: `host:pid:machine:birth:token`.

- `machine` is one boot of one machine as one container sees it: two containers can have the same host
  name, and the same process numbers for different processes
- `birth` is when the process began: it tells a process from a later one with the same number
- `token` tells the runs of one process apart

Whether a process of another machine is alive cannot be known; its lease expires if it is not.
"""

import hashlib
import os
import secrets
import socket
from functools import cache
from pathlib import Path
from typing import Final

from warehouse.domain.time import CLOCK_SKEW, MICROS_PER_SECOND

LEASE_MICROS: Final = 120 * MICROS_PER_SECOND

LEASE_REACH: Final = LEASE_MICROS + CLOCK_SKEW
"""The furthest ahead that a lease can end. One that ends later was taken by a clock that was ahead, and
counts as expired: it would last for as long as that clock was wrong."""

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_PROCESSES: Final = "/proc/self/ns/pid"


def new_owner() -> str:
    """An owner of leases in this process, another one at each call."""
    pid = os.getpid()
    return f"{own_name()}:{this_machine()}:{_birth(pid)}:{secrets.token_hex(8)}"


def own_name() -> str:
    """The name of this process for people: `host:pid`."""
    return f"{socket.gethostname()}:{os.getpid()}"


def display_name(owner: str) -> str:
    """An owner as people are shown it: `host:pid`, "" for none."""
    return ":".join(owner.split(":", 2)[:2])


def machine_of(owner: str) -> str:
    return _parts(owner)[2]


def is_here(owner: str) -> bool:
    """Whether an owner is or was a process of this machine."""
    return machine_of(owner) == this_machine()


def is_dead(owner: str) -> bool:
    """Whether an owner is a process of this machine that has ended."""
    _host, pid, _, birth, *_ = _parts(owner)
    return is_here(owner) and _birth(int(pid)) != birth


def _parts(owner: str) -> list[str]:
    return [*owner.split(":"), "", "", "", ""]


@cache
def this_machine() -> str:
    """The boot and the process numbers' namespace (Linux), else the host's name."""
    try:
        seen = f"{_BOOT.read_text().strip()} {os.readlink(_PROCESSES)}"
    except OSError:
        seen = socket.gethostname()
    return hashlib.sha256(seen.encode()).hexdigest()[:16]


def _birth(pid: int) -> str:
    """The begin of a process, in ticks since the boot; "" if it has ended.

    Without `/proc` it is only known whether the number is in use.
    """
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        if Path("/proc/self/stat").exists():
            return ""
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return ""
        except PermissionError:
            pass
        return "0"
    # A process that has ended and was not collected by its parent is a zombie.
    return "" if state == "Z" else fields[18]

"""The identity of a process, as the owner of leases and of job runs: machine, process number, token.

The token tells a process from a later one with the same number. Whether a process of another machine
is alive cannot be known; its lease expires if it is not.
"""

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


def own_id() -> str:
    """This process: `host:pid:token`."""
    return _id_of(os.getpid())


@cache
def _id_of(pid: int) -> str:
    return f"{socket.gethostname()}:{pid}:{secrets.token_hex(8)}"


def display_name(owner: str) -> str:
    """An owner as people are shown it: `host:pid`, "" for none."""
    return owner.rsplit(":", 1)[0]


def is_dead(owner: str) -> bool:
    """Whether an owner is a process of this machine that has ended."""
    host, pid, _ = owner.rsplit(":", 2)
    if host != socket.gethostname():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    if _is_zombie(pid):
        return True
    # This process's number with another token: a process of before a restart of the machine.
    return int(pid) == os.getpid() and owner != own_id()


def _is_zombie(pid: str) -> bool:
    """Whether a process has ended and its parent has not collected it (Linux; elsewhere False)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state == "Z"

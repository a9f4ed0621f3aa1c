"""Who holds a lease or carries out a run: a process, by machine and number, and a token of its own.

The token tells it apart from a later process of the same number. Whether a process of another
machine lives cannot be asked; that it does not is known once its lease has run out.
"""

import os
import secrets
import socket
from functools import cache
from pathlib import Path
from typing import Final

from warehouse.days import MICROS_PER_SECOND

LEASE_MICROS: Final = 120 * MICROS_PER_SECOND


def me() -> str:
    """This process: `host:pid:token`."""
    return _named(os.getpid())


@cache
def _named(pid: int) -> str:
    return f"{socket.gethostname()}:{pid}:{secrets.token_hex(8)}"


def is_dead(owner: str) -> bool:
    """Whether an owner is a process of this machine that is no more."""
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
    # A process of the same number as this one, and another token, was of an earlier life.
    return int(pid) == os.getpid() and owner != me()


def _is_zombie(pid: str) -> bool:
    """Whether a process has ended, and its parent has not asked how (on Linux; elsewhere False)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state == "Z"


def shown(owner: str) -> str:
    """An owner for people: `host:pid`, "" for nobody."""
    return owner.rsplit(":", 1)[0]

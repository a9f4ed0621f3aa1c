"""The folder that the processes of one server share, and the removal of those that dead servers left.

A server keeps its folder locked. The system drops the lock when the process ends, however it ends, so a
folder that can be locked belongs to nobody.
"""

import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

PREFIX: Final = "formrevenue-server-"

# A server locks its folder right after it has made it. A younger one is left alone.
_LEAST_AGE_SECONDS: Final = 60


@contextmanager
def shared_folder() -> Iterator[Path]:
    """A new folder, which is removed in the end. Folders of this user that servers left behind when they
    were killed are removed first."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            found = left.lstat()
        except FileNotFoundError:
            continue
        is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
        is_old = time.time() - found.st_mtime > _LEAST_AGE_SECONDS
        if is_own and is_old and (lock := _lock_or_none(left)) is not None:
            shutil.rmtree(left, ignore_errors=True)
            os.close(lock)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = _lock_or_none(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _lock_or_none(folder: Path) -> int | None:
    """A descriptor that locks the folder until it is closed; None where another process locks it, or
    has removed it."""
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        return None
    return opened

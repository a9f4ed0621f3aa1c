"""The folder of the backups that are taken on a schedule. Their names tell when each was begun; other files
are left alone."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from warehouse.domain.time import MICROS_PER_DAY, from_micros

_NAME: Final = "warehouse-%Y%m%dT%H%M%SZ.backup"
_NAMES: Final = "warehouse-*Z.backup"


@contextmanager
def locked(folder: Path) -> Iterator[bool]:
    """Lock the folder of backups during the block; False where another process has it. Deletes what killed
    processes have left."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        for leftover in folder.glob(f"{_NAMES}.*.partial"):
            leftover.unlink()
        yield True
    finally:
        os.close(descriptor)


def next_file(folder: Path, now: int) -> Path:
    return folder / from_micros(now).strftime(_NAME)


def purge(newest: Path, now: int, keep: int, days: int) -> int:
    """Delete the backups in the folder of the newest one that are older than so many days, or beyond so many
    with it; returns how many. The newest one stays."""
    others = sorted(set(newest.parent.glob(_NAMES)) - {newest}, reverse=True)
    before = now - days * MICROS_PER_DAY
    deleted = [
        file
        for number, file in enumerate(others, 2)
        if number > keep or file.name < from_micros(before).strftime(_NAME)
    ]
    for file in deleted:
        file.unlink()
    return len(deleted)

"""The names that files and their reports get in `done/` and `failed/`: free, and not too long."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from itertools import count
from typing import Final

from jobs.landing.folder import REPORT

# The longest name that file systems take, less the dot before a report that is being written.
_MAX_BYTES: Final = 254
# An ending longer than this is none: the name merely has a full stop in it.
_MAX_ENDING_BYTES: Final = 40


def report_name(name: str) -> str:
    """The name of the report of a file in `done/` or `failed/`."""
    return _fitting(name, REPORT)


def free_name(folder: int, name: str) -> str:
    """The first of `a.csv.gz`, `a-2.csv.gz`, `a-3.csv.gz`, ... that is free in an open folder, and whose
    report is free or a file that can be replaced."""
    return next(
        one
        for one in _numbered(name)
        if _mode(folder, one) is None
        and stat.S_ISREG(_mode(folder, report_name(one)) or stat.S_IFREG)
    )


def _mode(folder: int, name: str) -> int | None:
    with suppress(FileNotFoundError):
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    return None


def _numbered(name: str) -> Iterator[str]:
    yield name
    stem, dot, ending = name.partition(".")
    if len(os.fsencode(ending)) > _MAX_ENDING_BYTES:
        stem, dot, ending = name, "", ""
    for number in count(2):
        yield _fitting(stem, f"-{number}{dot}{ending}")


def _fitting(head: str, tail: str) -> str:
    """Both together; where that is too long, the head is cut and ends with a hash of the whole."""
    if len(os.fsencode(head + tail)) <= _MAX_BYTES:
        return head + tail
    tail = f"~{sha256(os.fsencode(head)).hexdigest()[:8]}{tail}"
    while len(os.fsencode(head + tail)) > _MAX_BYTES:
        head = head[:-1]
    return head + tail

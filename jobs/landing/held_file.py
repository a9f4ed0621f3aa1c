"""A landed file that is held open, so that what is read and moved is the file that was found.

An account that may write into its folder can put a link or another file in its place at any moment. That
is why nothing here goes by a path: the file is read through its descriptor, and moved from one open
folder to another, `done/` or `failed/` beside it, under a name that is free there and not too long.
"""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, count
from pathlib import Path, PosixPath
from typing import Any, Final

from jobs.landing.folder import LandedFile
from warehouse.domain.landing_names import DONE, FAILED, REPORT
from warehouse.intake.landing_folders import open_descriptor, open_folder, open_inner

# Opened like this, a device or a pipe does nothing, and the file need not be readable.
_HOLD: Final = getattr(os, "O_PATH", os.O_RDONLY | os.O_NONBLOCK) | os.O_NOFOLLOW
# The longest name that file systems take, less the dot before a report that is being written.
_MAX_BYTES: Final = 254
# An ending longer than this is none: the name merely has a full stop in it.
_MAX_ENDING_BYTES: Final = 40
# A report has the counts and a few reasons, and is shorter.
_REPORT_BYTES: Final = 64 * 1024


class FileGone(Exception):
    """The file is no longer the one that was found: somebody moved, replaced or changed it."""


class FileLeftAlone(Exception):
    """The file cannot be read or moved here. The message says why."""


class HeldPath(PosixPath):
    """The path of an open file: its name is what it was when the file was found, and whoever opens it
    gets that very file. (On systems without /proc, whatever lies at the path.)"""

    descriptor: int

    def __fspath__(self) -> str:
        held = f"/proc/self/fd/{self.descriptor}"
        return held if os.path.exists(held) else str(self)


@dataclass(frozen=True)
class HeldFile:
    """A landed file with the open folder in which it lies, and those in which it can end."""

    landed: LandedFile
    path: HeldPath
    folder: int
    ends: dict[str, int]

    def move(self, outcome: str, report: dict[str, Any]) -> None:
        """Move the file to the folder `outcome` under a name that is free there, its report with it.

        Raises FileGone if it is no longer there as it was, and FileLeftAlone.
        """
        with _explained():
            if _changed(self.landed, os.fstat(self.path.descriptor)):
                raise FileGone("it was changed while it was imported")
            self._raise_unless_at(self.folder, self.path.name)
            end = self.ends[outcome]
            name = _free_name(end, self.path.name)
            # The report first: a report without its file is overwritten by the next try.
            content = json.dumps({"outcome": outcome, "name": name, **report}, indent=2) + "\n"
            written = report_name(name)
            os.replace(_hidden(end, written, content), written, src_dir_fd=end, dst_dir_fd=end)
            try:
                self._rename(end, name)
            except (OSError, FileGone):
                with suppress(FileNotFoundError):
                    os.unlink(written, dir_fd=end)
                raise

    def _rename(self, end: int, name: str) -> None:
        os.rename(self.path.name, name, src_dir_fd=self.folder, dst_dir_fd=end)
        try:
            self._raise_unless_at(end, name)
        except FileGone:
            # It was replaced in this very moment, by something that has not been imported.
            os.rename(name, self.path.name, src_dir_fd=end, dst_dir_fd=self.folder)
            raise

    def _raise_unless_at(self, folder: int, name: str) -> None:
        there = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not os.path.samestat(there, os.fstat(self.path.descriptor)):
            raise FileGone("it was replaced while it was imported")


@contextmanager
def hold(root: Path, landed: LandedFile) -> Iterator[HeldFile]:
    """Open a landed file, its folder, and the folders in which it can end, which are made.

    Raises FileGone, and FileLeftAlone; the block may raise them too.
    """
    with ExitStack() as opened:
        with _explained():
            folder = opened.enter_context(open_folder(root, *landed.place.parts))
            path = HeldPath(landed.path)
            path.descriptor = opened.enter_context(open_descriptor(path.name, _HOLD, folder))
            status = os.fstat(path.descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
                raise FileLeftAlone("it is no plain file any more")
            if _changed(landed, status):
                raise FileGone("it was changed just now")
            ends = {name: opened.enter_context(_end(folder, name)) for name in (DONE, FAILED)}
            for end in ends.values():
                # Better now than after the import: on a full disk each look would import the file again.
                room = _hidden(end, report_name(path.name), " " * _REPORT_BYTES)
                os.unlink(room, dir_fd=end)
        yield HeldFile(landed, path, folder, ends)


@contextmanager
def _end(folder: int, name: str) -> Iterator[int]:
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=folder)
    with open_inner(folder, name) as end:
        # Better now than after the import.
        for changed in (folder, end):
            if not os.access(".", os.W_OK | os.X_OK, dir_fd=changed):
                raise FileLeftAlone(f"this account may not move it to {name}/")
        yield end


@contextmanager
def _explained() -> Iterator[None]:
    """Raise an OSError as what it means for the file."""
    try:
        yield
    except FileNotFoundError:
        raise FileGone("somebody else has moved or deleted it") from None
    except FileExistsError:
        raise FileGone("another process is moving it") from None
    except OSError as error:
        raise FileLeftAlone(f"{error.strerror} ({error.filename})") from error


def _changed(landed: LandedFile, now: os.stat_result) -> bool:
    before = (landed.inode, landed.size, landed.modified)
    return before != (now.st_ino, now.st_size, now.st_mtime_ns)


def _hidden(folder: int, name: str, content: str) -> str:
    """Write a report into an open folder, under a hidden name, which it returns. Raises FileLeftAlone."""
    hidden = f".{name}"
    with suppress(FileNotFoundError):
        os.unlink(hidden, dir_fd=folder)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL  # a link that lies there is not followed
    descriptor = os.open(hidden, flags, 0o666, dir_fd=folder)
    try:
        with open(descriptor, "w") as file:
            file.write(content)
    except OSError as error:
        os.unlink(hidden, dir_fd=folder)
        reason = f"{error.strerror}, so that no report of it can be written; free some space"
        raise FileLeftAlone(reason) from error
    return hidden


def report_name(name: str) -> str:
    """The name of the report of a file in `done/` or `failed/`."""
    return _fitting(name, REPORT)


def _free_name(folder: int, name: str) -> str:
    """The first of `a.csv.gz`, `a-2.csv.gz`, `a-3.csv.gz`, ... that is free in an open folder, and whose
    report is free or a file that can be replaced."""
    stem, dot, ending = name.partition(".")
    if len(os.fsencode(ending)) > _MAX_ENDING_BYTES:
        stem, dot, ending = name, "", ""
    numbered = (_fitting(stem, f"-{number}{dot}{ending}") for number in count(2))
    return next(
        one
        for one in chain([name], numbered)
        if _mode(folder, one) is None
        and stat.S_ISREG(_mode(folder, report_name(one)) or stat.S_IFREG)
    )


def _mode(folder: int, name: str) -> int | None:
    with suppress(FileNotFoundError):
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    return None


def _fitting(head: str, tail: str) -> str:
    """Join the parts of a name; where that is too long, the head is cut and ends with a hash of the whole."""
    if len(os.fsencode(head + tail)) <= _MAX_BYTES:
        return head + tail
    tail = f"~{sha256(os.fsencode(head)).hexdigest()[:8]}{tail}"
    while len(os.fsencode(head + tail)) > _MAX_BYTES:
        head = head[:-1]
    return head + tail

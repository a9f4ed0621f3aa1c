"""A landed file that is held open, so that what is read and moved is the file that was found.

An account that may write into its folder can put a link or another file in its place at any moment. That
is why nothing here goes by a path: the file is read through its descriptor, and moved from one open
folder to another, `done/` or `failed/` beside it.
"""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PosixPath
from typing import Any, Final

from jobs.landing.file_names import free_name, report_name
from jobs.landing.folder import DONE, FAILED, LandedFile, open_descriptor, open_folder, open_inner

# Opened like this, a device or a pipe does nothing, and the file need not be readable.
_HOLD: Final = getattr(os, "O_PATH", os.O_RDONLY | os.O_NONBLOCK) | os.O_NOFOLLOW


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
            name = free_name(end, self.path.name)
            # The report first: a report without its file is overwritten by the next try.
            written = _write(end, report_name(name), {"outcome": outcome, "name": name, **report})
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
    """An OSError as what it means for the file."""
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


def _write(folder: int, name: str, report: dict[str, Any]) -> str:
    """Write a report into an open folder, whole or not at all; returns its name."""
    unfinished = f".{name}"
    with suppress(FileNotFoundError):
        os.unlink(unfinished, dir_fd=folder)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL  # a link that lies there is not followed
    with open(os.open(unfinished, flags, 0o666, dir_fd=folder), "w") as file:
        file.write(json.dumps(report, indent=2) + "\n")
    os.replace(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder)
    return name

"""Dropped files in the landing folder: a file grows under a hidden name, has its own once it is whole, and
moves to where imports look once its member asks for that.

`IMPORT_DIR/.dropped/SHOP/`. A part is locked while it grows: the system drops the lock when its process
ends, however it ends, and the next upload of the shop takes the part's place. No link is followed below the
landing folder, since other accounts may write there.
"""

import fcntl
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from warehouse.domain import landing_names
from warehouse.domain.landing_names import DROPPED, DROPPED_FOLDER
from warehouse.intake.landing_folders import made_folder

_PART: Final = ".part"
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
# The dot of an ending with which the import would leave a file lying, as one that is not whole or a report.
_LEFT_LYING: Final = re.compile(r"\.(?=(part|tmp|crdownload|report\.json)$)", re.IGNORECASE)
_LONGEST: Final = 100
_LONGEST_SHOWN: Final = 200


class Receiving(Exception):
    """Another file of the shop is being received."""


class FileUpload:
    """A file that grows."""

    def __init__(self, folder: int, descriptor: int) -> None:
        self._folder, self._descriptor = folder, descriptor
        self.size = 0

    def write(self, data: bytes | bytearray) -> None:
        rest = memoryview(data)
        self.size += len(rest)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    def finish(self, name: str) -> None:
        """Give the file its name, once all of it is on disk."""
        os.fsync(self._descriptor)
        os.rename(_PART, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        os.fsync(self._folder)


def stored_name(name: str) -> str:
    """The name under which a file lies in the landing folder: unlike all others, without its path, and as
    every file system takes it."""
    plain = _UNSAFE.sub("_", base_name(name)).lstrip(".") or "file"
    plain = _LEFT_LYING.sub("_", plain)
    return f"{DROPPED}{secrets.token_hex(8)}-{plain[-_LONGEST:]}"


def base_name(name: str) -> str:
    return name.replace("\\", "/").rpartition("/")[2]


def file_name(path: str) -> str:
    """The name by which people call a file. Those that the collector writes have no name of their own."""
    name = base_name(path)
    if landing_names.is_collected(name):
        return "what came from your pages"
    return visible(landing_names.given_name(name)) or "a file"


def visible(text: str) -> str:
    """A text of anyone's: cut, and without characters that do not show or turn others round."""
    cut = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in cut)


@contextmanager
def receive(root: Path, shop_id: str) -> Iterator[FileUpload]:
    """A file of a shop to be written; what is not finished at the end is removed. Raises Receiving, and
    OSError."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    with made_folder(root, DROPPED_FOLDER, shop_id) as folder:
        descriptor = os.open(_PART, flags, 0o600, dir_fd=folder)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Receiving from None
            # Another process may have finished it before the lock.
            if not _is_part(folder, descriptor):
                raise Receiving
            os.ftruncate(descriptor, 0)
            try:
                yield FileUpload(folder, descriptor)
            finally:
                if _is_part(folder, descriptor):
                    os.unlink(_PART, dir_fd=folder)
        finally:
            os.close(descriptor)


def remove(root: Path, shop_id: str, stored: str) -> None:
    """Remove a file that nobody asked to import, if it is there."""
    with suppress(OSError), made_folder(root, DROPPED_FOLDER, shop_id) as folder:
        os.unlink(stored, dir_fd=folder)


def rename(root: Path, shop_id: str, stored: str, new: str) -> bool:
    """Give a file that nobody asked to import another name. False where it is not there. Raises OSError."""
    with made_folder(root, DROPPED_FOLDER, shop_id) as folder:
        try:
            os.rename(stored, new, src_dir_fd=folder, dst_dir_fd=folder)
        except FileNotFoundError:
            # A process that was killed may have renamed it.
            return new in os.listdir(folder)
    return True


def _is_part(folder: int, descriptor: int) -> bool:
    try:
        there = os.stat(_PART, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(there, os.fstat(descriptor))

"""Folders of the landing folder, each opened from the one above it.

Accounts that the service does not trust may write there, so no link is followed.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path

from warehouse.domain.landing_names import DROPPED_FOLDER


@contextmanager
def open_descriptor(name: str | Path, flags: int, folder: int | None = None) -> Iterator[int]:
    """A descriptor of a file or folder, in an open `folder` or at a path. Raises OSError."""
    descriptor = os.open(name, flags, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_inner(folder: int, name: str) -> AbstractContextManager[int]:
    """A descriptor of the folder `name` in an open one. Raises OSError, also if it is a symlink."""
    return open_descriptor(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, folder)


@contextmanager
def open_folder(root: Path, *names: str) -> Iterator[int]:
    """A descriptor of the folder `root/names...`. Raises OSError, also if one of the names is a
    symlink; `root` itself, which the operator has set, may be one."""
    with ExitStack() as opened:
        folder = opened.enter_context(open_descriptor(root, os.O_RDONLY | os.O_DIRECTORY))
        for name in names:
            folder = opened.enter_context(open_inner(folder, name))
        yield folder


@contextmanager
def made_folder(root: Path, *names: str) -> Iterator[int]:
    """A descriptor of a folder, as `open_folder` gives it. Makes it where it is not there, and those above
    it, for our account alone."""
    root.mkdir(parents=True, exist_ok=True)
    with ExitStack() as opened:
        folder = opened.enter_context(open_descriptor(root, os.O_RDONLY | os.O_DIRECTORY))
        for name in names:
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=folder)
            folder = opened.enter_context(open_inner(folder, name))
        yield folder


def land_dropped(root: Path, shop_id: str, stored: str, place: Sequence[str]) -> bool:
    """Move a dropped file to where imports look, the folders `place`. False where it is in neither folder.
    Raises OSError."""
    with (
        made_folder(root, DROPPED_FOLDER, shop_id) as folder,
        made_folder(root, *place) as landing,
    ):
        try:
            os.rename(stored, stored, src_dir_fd=folder, dst_dir_fd=landing)
        except FileNotFoundError:
            # A process that was killed may have moved it.
            return stored in os.listdir(landing)
        os.fsync(landing)
    return True

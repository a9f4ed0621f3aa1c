"""Folders of the landing folder, each opened from the one above it.

Accounts that the service does not trust may write there, so no link is followed.
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path


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

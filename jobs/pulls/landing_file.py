"""A file that is written aside into the landing folder, and appears there once it is whole.

Accounts that the service does not trust may write there. So no link is followed: each folder is opened
from the one above it, as `jobs/landing/folder.py` does.
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from jobs.landing import folder
from jobs.landing.folder import LandingPlace
from warehouse.domain.landing_names import can_be_folder

_CREATE: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


@contextmanager
def new_file(root: Path, place: LandingPlace, aside: str, name: str) -> Iterator[BinaryIO]:
    """A file that appears under its name at the end of the block, for good; nothing stays of it if the block
    raises. Its time is the end: what was renamed before is imported before. Raises OSError.

    `aside`: the name until then. The same for each try, so that a killed process leaves one file at most.
    """
    with _open_folder(root, place) as opened:
        with suppress(FileNotFoundError):
            os.unlink(aside, dir_fd=opened)
        try:
            descriptor = os.open(aside, _CREATE, 0o600, dir_fd=opened)
            with open(descriptor, "w+b") as stream:
                yield stream
                stream.flush()
                os.fsync(descriptor)
            os.rename(aside, name, src_dir_fd=opened, dst_dir_fd=opened)
            os.fsync(opened)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(aside, dir_fd=opened)


def _open_folder(root: Path, place: LandingPlace) -> AbstractContextManager[int]:
    folder.make(root)
    *above, last = place.parts
    if place.shop_id:
        if not can_be_folder(last):
            raise OSError(f"the shop's id {last!r} cannot be the name of a folder")
        with folder.open_folder(root, *above) as parent, suppress(FileExistsError):
            os.mkdir(last, dir_fd=parent)
    return folder.open_folder(root, *place.parts)

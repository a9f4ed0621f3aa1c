"""A file that is written aside into the landing folder, and appears there once it is whole.

Accounts that the service does not trust may write there. So no link is followed: each folder is opened
from the one above it, as `jobs/landing/folder.py` does.
"""

import os
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from typing import BinaryIO, Final, Self

from jobs.landing import folder
from jobs.landing.folder import LandingPlace
from warehouse.domain.landing_names import can_be_folder

_CREATE: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


class NewFile:
    """`with NewFile(...) as file:` writes to `file.stream` and calls `file.publish()` when all is
    written. Without that, nothing stays. Raises OSError.

    `aside`: the name until then. The same for each try, so that a killed process leaves one file at most.
    """

    stream: BinaryIO

    def __init__(self, root: Path, place: LandingPlace, aside: str, name: str) -> None:
        self._root, self._place, self._aside, self._name = root, place, aside, name

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            self._folder = opened.enter_context(self._open_folder())
            with suppress(FileNotFoundError):
                os.unlink(self._aside, dir_fd=self._folder)
            descriptor = os.open(self._aside, _CREATE, 0o600, dir_fd=self._folder)
            self.stream = opened.enter_context(open(descriptor, "w+b"))
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        with self._opened, suppress(FileNotFoundError):
            os.unlink(self._aside, dir_fd=self._folder)

    def restart(self) -> None:
        """Forget what was written."""
        self.stream.seek(0)
        self.stream.truncate()

    def publish(self) -> None:
        """Have the file appear under its name, for good. Its time is now: what was renamed before is
        imported before."""
        self.stream.flush()
        os.fsync(self.stream.fileno())
        os.rename(self._aside, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        os.fsync(self._folder)

    def _open_folder(self) -> AbstractContextManager[int]:
        folder.make(self._root)
        *above, last = self._place.parts
        if self._place.shop_id:
            if not can_be_folder(last):
                raise OSError(f"the shop's id {last!r} cannot be the name of a folder")
            with folder.open_folder(self._root, *above) as parent, suppress(FileExistsError):
                os.mkdir(last, dir_fd=parent)
        return folder.open_folder(self._root, *self._place.parts)

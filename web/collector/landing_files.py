"""A file of the collector in the landing folder: open and locked while it grows, then under its own name.

`IMPORT_DIR/events/.collected-*.ndjson`: the landing folder ignores a name with a dot. A finished file is
renamed without the dot, and nothing is written to it again. A file stays locked as long as it is open. The
system drops the lock when its process ends, however it ends, so a file that can be locked was left behind.

No link is followed below the landing folder: other accounts may write there.
"""

import fcntl
import os
import secrets
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from warehouse.domain.landing_names import COLLECTED, is_collected
from warehouse.intake.landing_folders import open_folder

# The place of files of kind `events` whose rows name their shops.
_PLACE: Final = "events"


class LandingFile:
    """A file that grows; only its creator's thread uses it. All methods raise OSError."""

    def __init__(self, root: Path) -> None:
        """Create the file, and the folders that are not there."""
        self._root = root
        root.mkdir(parents=True, exist_ok=True)
        with open_folder(root) as above, suppress(FileExistsError):
            os.mkdir(_PLACE, 0o700, dir_fd=above)
            os.fsync(above)
        with open_folder(root, _PLACE) as folder:
            self._name, self._descriptor = _create(folder)
            try:
                # The name is on disk before any line is.
                os.fsync(folder)
            except BaseException:
                self.close()
                raise
        self.size = 0
        """Bytes that are on disk for good."""

    def write(self, lines: bytes) -> None:
        """Add whole lines, which `commit()` keeps and `withdraw()` takes back."""
        rest = memoryview(lines)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    def commit(self) -> None:
        """Return when all that was written is on disk."""
        os.fsync(self._descriptor)
        self.size = os.lseek(self._descriptor, 0, os.SEEK_CUR)

    def withdraw(self) -> None:
        """Take back what was written since the last commit, also the part of a line."""
        os.ftruncate(self._descriptor, self.size)
        os.lseek(self._descriptor, self.size, os.SEEK_SET)

    def finish(self) -> None:
        """Give the file its own name, or remove it if it is empty. It is closed if this succeeds."""
        # Somebody may have removed it, or its folder.
        with suppress(FileNotFoundError), open_folder(self._root, _PLACE) as folder:
            _release(folder, self._name, is_empty=self.size == 0)
        self.close()

    def close(self) -> None:
        """Let go of the file, under whichever name it has."""
        os.close(self._descriptor)


def take_up(root: Path) -> int:
    """Give each file that a dead process left behind its own name; empty ones are removed. The number
    of files. A last line that is cut short stays: the import rejects it, and so shows it."""
    try:
        with open_folder(root, _PLACE) as folder:
            taken = 0
            for name in os.listdir(folder):
                if not name.startswith(".") or not is_collected(name.removeprefix(".")):
                    continue
                try:
                    left = os.open(name, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
                except OSError:
                    continue  # it was finished just now, or is no plain file
                try:
                    if _lock(left) and _is_at(left, folder, name):
                        _release(folder, name, is_empty=os.fstat(left).st_size == 0)
                        taken += 1
                finally:
                    os.close(left)
            return taken
    except FileNotFoundError:
        return 0  # nothing was collected yet


def _create(folder: int) -> tuple[str, int]:
    """The name and descriptor of a new file, which is locked."""
    while True:
        moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        name = f".{COLLECTED}{moment}-{secrets.token_hex(8)}.ndjson"
        descriptor = os.open(
            name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=folder
        )
        try:
            # A process that starts may have seen it before the lock, and removed it.
            if _lock(descriptor) and _is_at(descriptor, folder, name):
                return name, descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _release(folder: int, name: str, *, is_empty: bool) -> None:
    if is_empty:
        os.unlink(name, dir_fd=folder)
    else:
        os.rename(name, name[1:], src_dir_fd=folder, dst_dir_fd=folder)


def _lock(descriptor: int) -> bool:
    """Whether the file is locked now; not where another process has locked it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(descriptor: int, folder: int, name: str) -> bool:
    try:
        there = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(there, os.fstat(descriptor))

"""Ceilings of the import of one file: its memory, its minutes, and the lines of which nothing can be taken.

Readers are made so that no file comes near the ceilings by its content alone. The ceilings are for what
nobody foresaw: without them one file could end the other processes of the machine, or keep the files
after it waiting for ever.
"""

import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Final

import adbc_driver_manager
import pyarrow as pa

from jobs.importing.files.chunk import UnreadableFile
from jobs.run.signals import raise_if_stopped
from warehouse.connections.errors import sqlite_code
from warehouse.setting_values import Setting
from warehouse.settings import IMPORT_MEMORY_MB, IMPORT_MINUTES

_SECONDS: Final = 60  # of a minute
_LINUX: Final = sys.platform == "linux"
if _LINUX:
    import resource


class OverCeiling(UnreadableFile):
    """The import of a file has reached a ceiling. Rows that were written before stay."""

    def __init__(self, path: Path, setting: Setting, unit: str) -> None:
        super().__init__(
            f"{path}: its import takes more than {setting.get()} {unit} ({setting.name}); what was "
            "imported so far stays. Split the file, or raise the setting"
        )


class _LateError(Exception):
    """The deadline has passed."""


class _FruitlessError(Exception):
    """Nothing could be taken from MAX_FRUITLESS lines or rows in a row."""


MAX_FRUITLESS: Final = 1_000_000
"""The most lines without a row, and rows of which none is taken, in a row: the files of others wait."""


class FileCeilings:
    """The ceilings of the import of one file. It may be made in portions, with others between them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines = self._rows = 0
        # The time and the memory that it may still take, and when the time ends; None between portions.
        self._seconds = IMPORT_MINUTES.get() * _SECONDS
        self._spare = IMPORT_MEMORY_MB.get() << 20
        self._until: float | None = None

    @contextmanager
    def portion(self) -> Iterator[None]:
        """During the block, which imports a part of the file, this process may take so much more memory,
        `check_time` looks at the clock, and lines and rows are counted. Raises OverCeiling, and
        UnreadableFile for a file of which nothing can be taken; the caller rolls back."""
        self._until = time.monotonic() + self._seconds
        token = _current.set(self)
        try:
            with _spare_memory(self._spare) as most:
                yield
                if most:
                    self._spare = min(self._spare, max(most - _data_bytes(), 0))
        except _LateError:
            raise OverCeiling(self._path, IMPORT_MINUTES, "minutes") from None
        except _FruitlessError:
            raise UnreadableFile(
                f"{self._path}: nothing could be taken from {MAX_FRUITLESS} lines in a row; what was "
                "imported before them stays. Mend the file, and import it again"
            ) from None
        except MemoryError as error:
            raise OverCeiling(self._path, IMPORT_MEMORY_MB, "MB of memory") from error
        except adbc_driver_manager.Error as error:
            # Without a state it is this machine's memory, not the server's.
            if sqlite_code(error) != sqlite3.SQLITE_NOMEM:
                raise
            raise OverCeiling(self._path, IMPORT_MEMORY_MB, "MB of memory") from error
        finally:
            _current.reset(token)
            self._seconds, self._until = self._until - time.monotonic(), None

    def check_time(self) -> None:
        if self._until is not None and time.monotonic() > self._until:
            raise _LateError

    def lines_read(self, count: int) -> None:
        _check_fruits(self._lines)
        self._lines += count

    def row_found(self) -> None:
        self._lines = 0

    def rows_tried(self, count: int, taken: int) -> None:
        self._rows = 0 if taken else self._rows + count
        _check_fruits(self._rows)


_current: ContextVar[FileCeilings | None] = ContextVar("ceilings", default=None)


@contextmanager
def file_ceilings(path: Path) -> Iterator[None]:
    """A block that reads or imports a file in one portion; see `FileCeilings.portion`."""
    with FileCeilings(path).portion():
        yield


def check_time() -> None:
    """To be called where nothing is half done, at least once for some megabytes of a file, unpacked. The
    import ends here once it has taken too long, and after a signal."""
    raise_if_stopped()
    if ceilings := _current.get():
        ceilings.check_time()


def lines_read(count: int) -> None:
    """To be called by readers for lines that they read now, once the rows of those before are given on."""
    if ceilings := _current.get():
        ceilings.lines_read(count)


def row_found() -> None:
    """To be called where rows, or lines that are none, are given on."""
    if ceilings := _current.get():
        ceilings.row_found()


def rows_tried(count: int, taken: int) -> None:
    """To be called for rows of which so many could be taken."""
    if ceilings := _current.get():
        ceilings.rows_tried(count, taken)


def _check_fruits(count: int) -> None:
    if count > MAX_FRUITLESS:
        raise _FruitlessError


@contextmanager
def memory_ceiling(megabytes: int) -> Iterator[None]:
    """During the block an allocation fails that goes further beyond the memory of now. Only Linux has
    such a limit."""
    with _spare_memory(megabytes << 20):
        yield


@contextmanager
def _spare_memory(spare: int) -> Iterator[int]:
    """The same in bytes; the most of all memory, 0 where the system has no such limit."""
    if not _LINUX:
        yield 0
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = _data_bytes() + spare
    for limit in (soft, hard):
        most = most if limit == resource.RLIM_INFINITY else min(most, limit)
    pool = pa.default_memory_pool()
    # Arrow's own pool reserves a gigabyte at once, which would count.
    pa.set_memory_pool(pa.system_memory_pool())
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    try:
        yield most
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
        pa.set_memory_pool(pool)


def _data_bytes() -> int:
    """The bytes that the kernel counts against RLIMIT_DATA now."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmData:")[2].split()[0]) << 10

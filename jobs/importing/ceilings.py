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
from math import inf
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
        # The lines without a row, and the rows of which none was taken, since the last ones.
        self.lines = self.rows = 0
        # The time and the memory that it may still take, and when the time ends: between portions never.
        self._seconds = IMPORT_MINUTES.get() * _SECONDS
        self._spare = IMPORT_MEMORY_MB.get() << 20
        self.until = inf

    @contextmanager
    def portion(self) -> Iterator[None]:
        """Apply the ceilings to a block that reads or imports a part of the file: memory is limited,
        `check_time` looks at the clock, and lines and rows are counted. Raises OverCeiling, and
        UnreadableFile for a file of which nothing can be taken; the caller rolls back."""
        self.until = time.monotonic() + self._seconds
        token = _current.set(self)
        try:
            with memory_ceiling(self._spare) as most:
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
            self._seconds, self.until = self.until - time.monotonic(), inf


_current: ContextVar[FileCeilings | None] = ContextVar("ceilings", default=None)


def check_time() -> None:
    """End the import if it has taken too long, or after a signal. Readers call this where nothing is half
    done, at least once for some megabytes of a file, unpacked."""
    raise_if_stopped()
    if (ceilings := _current.get()) and time.monotonic() > ceilings.until:
        raise _LateError


def lines_read(count: int) -> None:
    """Count lines that a reader reads now. The rows of the lines before them are given on."""
    if ceilings := _current.get():
        _check_fruits(ceilings.lines)
        ceilings.lines += count


def row_found() -> None:
    """Note that rows, or lines that are none, are given on."""
    if ceilings := _current.get():
        ceilings.lines = 0


def rows_tried(count: int, taken: int) -> None:
    """Count rows, of which so many could be taken."""
    if ceilings := _current.get():
        ceilings.rows = 0 if taken else ceilings.rows + count
        _check_fruits(ceilings.rows)


def _check_fruits(count: int) -> None:
    if count > MAX_FRUITLESS:
        raise _FruitlessError


@contextmanager
def memory_ceiling(spare: int) -> Iterator[int]:
    """Limit the memory of a block: an allocation fails that goes so many bytes beyond the memory of now.
    Yields the bytes that the process may have, 0 where the system has no such limit: only Linux has it."""
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

"""Ceilings of the import of one file: its memory and its minutes.

Readers are made so that no file comes near the ceilings by its content alone. The ceilings are for what
nobody foresaw: without them one file could end the other processes of the machine, or keep the files
after it waiting for ever.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import adbc_driver_manager
import pyarrow as pa

from jobs.importing.files.chunk import UnreadableFile
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


_deadline: float | None = None


@contextmanager
def file_ceilings(path: Path) -> Iterator[None]:
    """During the block, which imports a file, this process may take so much more memory, and
    `check_time` looks at the clock. Raises OverCeiling; the caller rolls back."""
    global _deadline
    _deadline = time.monotonic() + IMPORT_MINUTES.get() * _SECONDS
    try:
        with _memory_ceiling(IMPORT_MEMORY_MB.get()):
            yield
    except _LateError:
        raise OverCeiling(path, IMPORT_MINUTES, "minutes") from None
    except MemoryError as error:
        raise OverCeiling(path, IMPORT_MEMORY_MB, "MB of memory") from error
    except adbc_driver_manager.Error as error:
        # Without a state it is this machine's memory, not the server's.
        if error.sqlstate or "out of memory" not in str(error):
            raise
        raise OverCeiling(path, IMPORT_MEMORY_MB, "MB of memory") from error
    finally:
        _deadline = None


def check_time() -> None:
    """To be called where nothing is half done, at least once for some megabytes of a file, unpacked. The
    import ends here once it has taken too long."""
    if _deadline is not None and time.monotonic() > _deadline:
        raise _LateError


@contextmanager
def _memory_ceiling(megabytes: int) -> Iterator[None]:
    """During the block an allocation fails that goes further beyond the memory of now. Only Linux has
    such a limit."""
    if not _LINUX:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = _data_bytes() + (megabytes << 20)
    for limit in (soft, hard):
        most = most if limit == resource.RLIM_INFINITY else min(most, limit)
    pool = pa.default_memory_pool()
    # Arrow's own pool reserves a gigabyte at once, which would count.
    pa.set_memory_pool(pa.system_memory_pool())
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
        pa.set_memory_pool(pool)


def _data_bytes() -> int:
    """The bytes that the kernel counts against RLIMIT_DATA now."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmData:")[2].split()[0]) << 10

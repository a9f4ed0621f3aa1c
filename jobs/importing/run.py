"""The import of one file, from its bytes to the counts."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pyarrow as pa

from jobs.ahead import ahead, without_collection
from jobs.importing.checks import Checks
from jobs.importing.kind import Counts, Kind
from jobs.importing.opening import NOTHING, Given, portions_of
from jobs.importing.portion import Portion, Unreadable
from jobs.importing.shops import Shops, load_shops
from jobs.importing.writing import write_portion
from warehouse.bulk import Bulk

# 80 MB at SQLite's 4 KiB a page.
_PAGES_OF_LOG: Final = 20_000

Progress = Callable[[int], None]


def import_file(
    bulk: Bulk,
    kind: Kind,
    path: Path,
    progress: Progress,
    counts: Counts,
    *,
    given: Given = NOTHING,
    name: str = "",
) -> None:
    """Import one file; adds to the counts. `progress` is told how many bytes have been read. Its
    rejects are listed under `name`, or else under its path.

    Raises Unreadable where there is no such file, or it cannot be read at all; rows of portions
    that were written before something failed stay.
    """
    portions = readable(path, portions_of(path, kind, given, load_shops(bulk)))
    import_portions(bulk, kind, name or str(path), portions, progress, counts)


def import_portions(
    bulk: Bulk,
    kind: Kind,
    file: str,
    portions: Iterable[Portion],
    progress: Progress,
    counts: Counts,
) -> None:
    """Import portions that belong to a file of this name; adds to the counts."""
    if bulk.sqlite:
        # The log is brought into the file once for several portions: half the time of commits.
        bulk.execute(f"PRAGMA wal_autocheckpoint = {_PAGES_OF_LOG}")
        # Pages that are looked at in a mapped file count to the process's memory for good.
        bulk.execute("PRAGMA mmap_size = 0")
    with without_collection(), closing(ahead(checked(kind, portions, load_shops(bulk)))) as ready:
        for checks, rows in ready:
            write_portion(bulk, kind, file, checks, rows, counts)
            progress(checks.portion.position)


def checked(
    kind: Kind, portions: Iterable[Portion], shops: Shops
) -> Iterator[tuple[Checks, pa.Table]]:
    """Each portion as rows of the kind, with what is refused of them."""
    for portion in portions:
        checks = Checks(portion)
        yield checks, kind.check(checks, shops)


def readable(path: Path, portions: Iterator[Portion]) -> Iterator[Portion]:
    """The portions of a file; raises Unreadable where it cannot be read on."""
    try:
        yield from portions
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror or error}") from error

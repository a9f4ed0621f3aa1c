"""Backups: a warehouse as one file, taken while everything runs, and put in place again.

A backup is the state of one instant. It is written under another name, read to its end, synced and renamed,
so a file with the final name is complete and was checked. SQLite's online backup writes another SQLite
file; PostgreSQL's `pg_dump` writes its own format. A restore is all or nothing, also for readers. A backup of
SQLite can be restored into PostgreSQL, not the other way round.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy.engine import URL, make_url

from warehouse.backups import files, from_sqlite, postgresql, sqlite
from warehouse.backups.files import BackupError, Progress

__all__ = ["BackupError", "Progress", "back_up", "restore"]

_MODULES: Final[dict[str, Any]] = {"sqlite": sqlite, "postgresql": postgresql}
_MAGIC: Final = {b"SQLite format 3\0": "sqlite", b"PGDMP": "postgresql"}


def back_up(url: str, file: Path, progress: Progress) -> None:
    """Write the warehouse to a file, which replaces one of that name. Raises BackupError, OSError."""
    parsed = make_url(url)
    if parsed.database and file.exists() and _is_warehouse(parsed, file):
        raise BackupError(f"{file} is the warehouse itself")
    with _naming(file), files.whole_or_nothing(file) as partial:
        module = _MODULES[parsed.get_backend_name()]
        module.back_up(parsed, partial, progress)
        module.check(parsed, partial, progress)


def restore(url: str, file: Path, progress: Progress, *, force: bool) -> None:
    """Replace the warehouse by a backup, migrated to the current schema.

    Raises BackupError for a file that is no complete backup, is of a newer version, or is of PostgreSQL for
    SQLite; and for a warehouse that has data, unless `force` is set.
    """
    parsed = make_url(url)
    kind = parsed.get_backend_name()
    if parsed.database and _is_warehouse(parsed, file):
        raise BackupError(f"{file} is the warehouse itself")
    with _naming(file):
        with file.open("rb") as opened:
            start = opened.read(max(map(len, _MAGIC)))
        found = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)
        if found is None:
            raise BackupError("is no backup of a warehouse")
        if (found, kind) == ("postgresql", "sqlite"):
            raise BackupError(
                "is a backup of a PostgreSQL warehouse, and WAREHOUSE_URL names an SQLite one"
            )
        module = _MODULES[kind] if found == kind else from_sqlite
        module.restore(parsed, file, progress, force)


@contextmanager
def _naming(file: Path) -> Iterator[None]:
    try:
        yield
    except BackupError as error:
        raise BackupError(f"{file} {error}") from error


def _is_warehouse(url: URL, file: Path) -> bool:
    warehouse = Path(url.database or "")
    return url.get_backend_name() == "sqlite" and warehouse.exists() and warehouse.samefile(file)

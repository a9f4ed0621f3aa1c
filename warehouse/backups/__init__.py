"""Backups: a warehouse as one file, taken while everything runs, and put in place again.

A backup is the state of one instant. It is written under another name, made durable, and renamed: a
file of the wanted name is whole. SQLite's own online backup makes another SQLite file; PostgreSQL's
`pg_dump` its own format. A restore is all or nothing, also for who reads meanwhile.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy.engine import URL, make_url

from warehouse.backups import files, postgresql, sqlite
from warehouse.backups.files import BackupError, Progress

__all__ = ["BackupError", "Progress", "back_up", "restore"]

_MAGIC: Final = {b"SQLite format 3\0": "sqlite", b"PGDMP": "postgresql"}
_NAMES: Final = {"sqlite": "an SQLite", "postgresql": "a PostgreSQL"}


def back_up(url: str, file: Path, progress: Progress) -> None:
    """Write the warehouse to a file, in place of what has that name. Raises BackupError, OSError."""
    parsed = make_url(url)
    if parsed.database and file.exists() and _is_warehouse(parsed, file):
        raise BackupError(f"{file} is the warehouse itself")
    with _named(file), files.whole_or_nothing(file) as partial:
        if parsed.get_backend_name() == "sqlite":
            sqlite.back_up(parsed, partial, progress)
        else:
            postgresql.back_up(parsed, partial, progress)


def restore(url: str, file: Path, progress: Progress, *, force: bool) -> None:
    """Put a backup in the place of the warehouse, migrated to the current schema.

    Raises BackupError where the file is no whole backup, or one of a newer version, or of the other
    database; and where the warehouse has data, unless `force` is set.
    """
    parsed = make_url(url)
    kind = parsed.get_backend_name()
    if parsed.database and _is_warehouse(parsed, file):
        raise BackupError(f"{file} is the warehouse itself")
    with _named(file):
        with file.open("rb") as opened:
            start = opened.read(max(map(len, _MAGIC)))
        found = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)
        if found is None:
            raise BackupError("is no backup of a warehouse")
        if found != kind:
            raise BackupError(
                f"is a backup of {_NAMES[found]} warehouse, and WAREHOUSE_URL names {_NAMES[kind]} one"
            )
        (sqlite if kind == "sqlite" else postgresql).restore(parsed, file, progress, force)


@contextmanager
def _named(file: Path) -> Iterator[None]:
    try:
        yield
    except BackupError as error:
        raise BackupError(f"{file} {error}") from error


def _is_warehouse(url: URL, file: Path) -> bool:
    warehouse = Path(url.database or "")
    return url.get_backend_name() == "sqlite" and warehouse.exists() and warehouse.samefile(file)

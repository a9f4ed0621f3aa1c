"""SQLite's online backup, there and back.

The copy is of the snapshot of one read transaction: writers continue, and do not restart it. A restore
goes to a second file, is checked and migrated there, and is then copied into the warehouse in one
transaction: a process that has the warehouse open sees either the old state or the new one.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy.engine import URL

from warehouse.backups.files import (
    BackupError,
    Progress,
    forget_the_present,
    require_empty,
    require_known,
)
from warehouse.connections.engine import open_engine
from warehouse.migrations.migrate import migrate_schema

# Pages copied between two reports of progress.
_PAGES: Final = 4_000


def back_up(url: URL, file: Path, progress: Progress) -> None:
    """Write the warehouse to a file. Raises BackupError where there is none."""
    if not Path(url.database or "").exists():
        raise BackupError(f"was not written: there is no warehouse at {url.database}")
    with (
        _meaning("could not be written"),
        _raw(url) as source,
        closing(sqlite3.connect(file, isolation_level=None)) as target,
    ):
        if _revision(source) is None:
            raise BackupError(f"was not written: there is no warehouse at {url.database}")
        source.execute("BEGIN")
        source.execute("SELECT COUNT(*) FROM sqlite_schema").fetchall()
        # The whole file is synced at the end.
        target.execute("PRAGMA synchronous = OFF")
        _copy(source, target, "backup", progress)
        source.execute("ROLLBACK")
        # One file, without a log file.
        target.execute("PRAGMA journal_mode = DELETE")


def check(_url: URL, file: Path, progress: Progress) -> None:
    """Read a backup to its end. Raises BackupError where it is not whole, or damaged."""
    with _meaning("is not whole"), _unchanging(file) as source:
        _require_whole(source, file)
        _require_sound(source, progress)


def restore(url: URL, file: Path, progress: Progress, force: bool) -> None:
    """Replace the warehouse by a backup. Raises BackupError."""
    engine = open_engine(url.render_as_string())
    require_empty(engine, force=force)
    warehouse = Path(url.database or "")
    restoring = url.set(database=str(warehouse.with_name(f"{warehouse.name}.restoring")))
    try:
        _remove(restoring)
        prepare(file, restoring, progress)
        with _meaning("could not be restored"), _raw(restoring) as source, _raw(url) as target:
            _copy(source, target, "restore", progress)
    finally:
        _remove(restoring)


def prepare(file: Path, restoring: URL, progress: Progress) -> None:
    """Copy a backup to a file, check it there, and migrate it."""
    with _meaning("is not whole"), _unchanging(file) as source, _raw(restoring) as target:
        revision = _revision(source)
        if revision is None:
            raise BackupError("is no backup of a warehouse")
        require_known(revision)
        _require_whole(source, file)
        target.execute("PRAGMA synchronous = OFF")
        _copy(source, target, "read", progress)
        _require_sound(target, progress)
    engine = open_engine(restoring.render_as_string())
    progress("migrate", 0, 0)
    migrate_schema(engine)
    with engine.begin() as connection:
        forget_the_present(connection, time.time_ns() // 1_000_000)


@contextmanager
def _meaning(what: str) -> Iterator[None]:
    """Raise an error of SQLite as what it means for the file."""
    try:
        yield
    except sqlite3.Error as error:
        raise BackupError(f"{what}: {error}") from error


@contextmanager
def _unchanging(file: Path) -> Iterator[sqlite3.Connection]:
    """Open a backup without changing it: a log file of the same name is no part of it."""
    address = f"{file.absolute().as_uri()}?immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        yield connection


def _require_whole(connection: sqlite3.Connection, file: Path) -> None:
    pages = int(connection.execute("PRAGMA page_count").fetchone()[0])
    if pages * _page_size(connection) != file.stat().st_size:
        raise BackupError("is not whole: its end is missing")


def _require_sound(connection: sqlite3.Connection, progress: Progress) -> None:
    progress("check", 0, 0)
    complaint = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if complaint != "ok":
        raise BackupError(f"is damaged: {' '.join(complaint.split())}")


def _revision(connection: sqlite3.Connection) -> str | None:
    """The revision of the schema in a file, None where that is no warehouse."""
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE name = 'alembic_version'")
    if tables.fetchone() is None:
        return None
    found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return str(found[0]) if found else None


def _page_size(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA page_size").fetchone()[0])


@contextmanager
def _raw(url: URL) -> Iterator[sqlite3.Connection]:
    with open_engine(url.render_as_string()).connect() as connection:
        raw = connection.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection)
        yield raw


def _copy(
    source: sqlite3.Connection, target: sqlite3.Connection, what: str, progress: Progress
) -> None:
    size = _page_size(source)

    def tell(_status: int, remaining: int, total: int) -> None:
        progress(what, (total - remaining) * size, total * size)

    source.backup(target, pages=_PAGES, progress=tell)


def _remove(url: URL) -> None:
    for end in ("", "-wal", "-shm", "-journal"):
        Path(f"{url.database}{end}").unlink(missing_ok=True)

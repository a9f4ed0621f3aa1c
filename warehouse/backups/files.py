"""What both kinds of backup need: a file that is whole or not there, and what a copy must forget."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, inspect, text

from warehouse.migrate import known_revisions

# What a backup that was killed has left behind is removed by one that comes so much later.
_LEFTOVER_SECONDS: Final = 24 * 3600

# What a warehouse writes about itself, also while nobody has put anything into it.
_NO_DATA: Final = ("alembic_version", "run", "job_lease")

# Told what is being done, how many bytes of it are done, and of how many (0: not known).
Progress = Callable[[str, int, int], None]


class BackupError(RuntimeError):
    """Nothing was written; the message is for people."""


@contextmanager
def whole_or_nothing(file: Path) -> Iterator[Path]:
    """A name to write to; what is there at the end of the block is made durable, and gets the name of
    `file`. A block that fails leaves nothing."""
    for leftover in file.parent.glob(f"{file.name}.*.partial"):
        if leftover.stat().st_mtime < time.time() - _LEFTOVER_SECONDS:
            leftover.unlink(missing_ok=True)
    partial = file.with_name(f"{file.name}.{os.getpid()}.partial")
    try:
        partial.touch()
        yield partial
        _sync(partial)
        partial.replace(file)
        _sync(file.parent)
    finally:
        partial.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def require_known(revision: str) -> None:
    """Raise BackupError where this code cannot migrate a warehouse of that revision."""
    if revision not in (known := known_revisions()):
        raise BackupError(
            f"was made by a newer version of this program (its schema is {revision}, the newest that "
            f"is known here {known[-1]}); upgrade first"
        )


def require_empty(engine: Engine, *, force: bool) -> None:
    """Raise BackupError where the warehouse has data, unless that is to be overwritten."""
    if force:
        return
    with engine.connect() as connection:
        for table in sorted(set(inspect(connection).get_table_names()) - set(_NO_DATA)):
            name = connection.dialect.identifier_preparer.quote(table)
            if connection.scalar(text(f"SELECT 1 FROM {name} LIMIT 1")):
                raise BackupError(
                    "was not restored: the warehouse has data; "
                    "to put the backup in its place, say --force"
                )


def forget_the_present(connection: Connection, now_millis: int) -> None:
    """Take out of a restored copy what was true only when and where it was made.

    Leases are those of the processes of then. Clients and caches tell answers apart by the shop's
    data version, which must therefore pass all that it ever was (it moves less than once a
    millisecond).
    """
    connection.execute(text("UPDATE edition SET lease_owner = '', lease_until = 0"))
    connection.execute(text("DELETE FROM job_lease"))
    connection.execute(
        text("UPDATE shop SET data_version = :now WHERE data_version < :now"), {"now": now_millis}
    )

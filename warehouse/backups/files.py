"""The parts that both kinds of backup share: a file that is complete or not there, and checks before a
restore."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, inspect, text

from warehouse import command
from warehouse.migrations.migrate import known_revisions

# A later backup removes the leftovers of one that was killed this long ago.
_LEFTOVER_SECONDS: Final = 24 * 3600

# Tables that are not empty in a warehouse without data.
_NO_DATA: Final = ("alembic_version", "job_run", "secret")

# Called with the name of the phase, the bytes that are done, and their total (0: unknown).
Progress = Callable[[str, int, int], None]


class BackupError(RuntimeError):
    """Nothing was written; the message is for people."""


@contextmanager
def whole_or_nothing(file: Path) -> Iterator[Path]:
    """A path to write to, which its own user alone can read. At the end of the block it is synced and
    renamed to `file`; a block that fails leaves nothing."""
    for leftover in file.parent.glob(f"{file.name}.*.partial"):
        if leftover.stat().st_mtime < time.time() - _LEFTOVER_SECONDS:
            leftover.unlink(missing_ok=True)
    # Created anew under a name that nobody can foretell: where others may write, a link could wait there.
    descriptor, name = tempfile.mkstemp(".partial", f"{file.name}.", file.parent)
    os.close(descriptor)
    partial = Path(name)
    try:
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
    """Raise BackupError for a revision that this version of the program does not know."""
    known = known_revisions()
    if revision < known[0]:
        raise BackupError(
            f"was made by a development version (its schema is {revision}), and this version cannot take it "
            f"over: restore it with the version that made it, export its shops there ("
            f"{command('web shops export')}), and import them"
        )
    if revision not in known:
        raise BackupError(
            f"was made by a newer version of this program (its schema is {revision}; this version "
            f"knows schemas up to {known[-1]}): upgrade first"
        )


def require_empty(engine: Engine, *, force: bool) -> None:
    """Raise BackupError for a warehouse that has data, unless `force` is set."""
    if force:
        return
    with engine.connect() as connection:
        for table in sorted(set(inspect(connection).get_table_names()) - set(_NO_DATA)):
            name = connection.dialect.identifier_preparer.quote(table)
            if connection.scalar(text(f"SELECT 1 FROM {name} LIMIT 1")):
                raise BackupError(
                    "was not restored: the warehouse has data; "
                    "to put the backup in its place, say --force (to make: FORCE=1)"
                )


def forget_the_present(connection: Connection, now_millis: int) -> None:
    """Delete from a restored copy what was true only when and where the backup was made.

    Its leases belonged to processes of that time, and the files that members had dropped lay in a folder of
    that time: a shop would wait for the end of its import for ever. Clients and caches tell answers
    apart by the shop's data version, so the version must exceed every earlier one. (It changes less than
    once a millisecond.)
    """
    connection.execute(text("UPDATE edition SET lease_owner = '', lease_until = 0"))
    connection.execute(
        text("UPDATE job_run SET state = 'died', ended_at = seen_at WHERE state = 'running'")
    )
    connection.execute(text("DELETE FROM task WHERE subject = 'file'"))
    connection.execute(
        text("UPDATE shop SET data_version = :now WHERE data_version < :now"), {"now": now_millis}
    )

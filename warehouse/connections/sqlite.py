"""The backend of a file."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection, Engine, event

from warehouse.connections.backend import BUSY_SECONDS, NO_WAIT_MS, Backend

if TYPE_CHECKING:
    from warehouse.connections.arrow import ArrowConnection

# How long the API waits for the write lock: less than a client waits for an answer. Jobs wait for as long
# as it takes.
_API_BUSY_SECONDS: Final = 5


class SqliteBackend(Backend):
    """A file. The ADBC driver brings its own copy of SQLite, and POSIX file locks belong to a
    process: if Python's `sqlite3` closes a file that the other copy has open, the other's locks are
    lost. So within a process the two take turns, which `adbc_connect` enforces."""

    name = "sqlite"
    has_many_writers = False
    # Rows are read in the order in which they were staged; an ORDER BY would sort them again.
    ordered_by_place = "WHERE true"

    PRAGMAS: Final = (
        "PRAGMA busy_timeout = 60000",
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = NORMAL",
        "PRAGMA cache_size = -64000",
        "PRAGMA temp_store = MEMORY",
        "PRAGMA mmap_size = 1073741824",
    )
    # Less than the API maps: a job reads all of it once, and mapped pages count as its memory.
    _JOB_MMAP_BYTES: Final = 256 * 1024 * 1024
    # A checkpoint per 80 MB (4 KiB a page) instead of per commit: commits take half the time.
    _IMPORT_CHECKPOINT_PAGES: Final = 20_000
    # By file: the connections that engines of this process have open.
    _engine_connections: Final[dict[str, int]] = {}

    @property
    def file(self) -> str:
        return self.url.database or ""

    @property
    def is_missing(self) -> bool:
        return not (self.file and Path(self.file).exists())

    def adbc_connect(self) -> Any:
        if self._engine_connections.get(self.file, 0) > 0:
            raise RuntimeError(
                f"an engine of this process has {self.file} open (see SqliteBackend)"
            )
        # Imported here: it loads pandas, which the API and the command line do without.
        import adbc_driver_sqlite.dbapi

        return adbc_driver_sqlite.dbapi.connect(self.file)

    def session_statements(self, *, wait_for_locks: bool) -> Sequence[str]:
        timeout = int(BUSY_SECONDS * 1_000) if wait_for_locks else NO_WAIT_MS
        return (
            *self.PRAGMAS,
            f"PRAGMA mmap_size = {self._JOB_MMAP_BYTES}",
            f"PRAGMA busy_timeout = {timeout}",
        )

    def with_parameters(self, sql: str) -> str:
        # SQLite takes `$1` for a name, numbered by its first appearance; its own form is `?1`.
        return re.sub(r"\$(\d+)", r"?\1", sql)

    def is_busy(self, error: Exception) -> bool:
        return "is locked" in str(error)

    def lock_table(self, connection: "ArrowConnection", table: str) -> None:
        # A transaction that has read can no longer become the writer once another has written.
        connection.execute("UPDATE shop SET edition = edition WHERE shop_key = 0")

    def tune_for_import(self, connection: "ArrowConnection") -> None:
        connection.execute(f"PRAGMA wal_autocheckpoint = {self._IMPORT_CHECKPOINT_PAGES}")
        # Pages that are read through the map stay in the process's memory.
        connection.execute("PRAGMA mmap_size = 0")

    def pool_options(self, most: int) -> dict[str, Any]:
        # Without a file, in memory, each thread has a database of its own.
        return super().pool_options(most) if self.file else {}

    def prepare_engine(self, engine: Engine, *, pooled: bool) -> None:
        if self.file:
            Path(self.file).parent.mkdir(parents=True, exist_ok=True)
        event.listen(engine, "connect", self._set_pragmas)
        if pooled:
            event.listen(engine, "connect", _wait_as_the_api)
        event.listen(engine, "begin", _begin_sqlite)
        event.listen(engine, "connect", lambda *_: self._count_engine_connection(+1))
        event.listen(engine, "close", lambda *_: self._count_engine_connection(-1))

    def _set_pragmas(self, connection: Any, _record: Any) -> None:
        # SQLAlchemy emits BEGIN itself (below), so that a read and the write after it are one snapshot.
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in self.PRAGMAS:
            cursor.execute(pragma)
        cursor.close()

    def _count_engine_connection(self, change: int) -> None:
        self._engine_connections[self.file] = self._engine_connections.get(self.file, 0) + change


def _wait_as_the_api(connection: Any, _record: Any) -> None:
    connection.execute(f"PRAGMA busy_timeout = {_API_BUSY_SECONDS * 1_000}").close()


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that means to write takes the lock at once (execution option `writes`): SQLite
    # would refuse to promote a reader whose snapshot is no longer the newest, without waiting.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

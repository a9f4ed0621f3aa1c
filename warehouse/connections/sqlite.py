"""The backend of a file."""

import os
import sqlite3
from collections import defaultdict
from pathlib import Path
from threading import Lock
from typing import Any, Final
from weakref import WeakSet

from sqlalchemy import Connection, Dialect, Engine, event

from warehouse.connections.backend import Backend

# How long the API waits for the write lock: less than a client waits for an answer. Jobs wait for as long
# as it takes.
_API_BUSY_SECONDS: Final = 5

# The connections that jobs of this process have open, and those that engines have, by file.
_of_jobs: Final[defaultdict[str, WeakSet[Any]]] = defaultdict(WeakSet)
_of_engines: Final[defaultdict[str, WeakSet[Any]]] = defaultdict(WeakSet)
# Held while one is opened: two threads might find both sets empty.
_opening: Final = Lock()


class _EngineConnection(sqlite3.Connection):
    """A connection that can be in a WeakSet, and leaves it when it is closed."""

    place: str

    def close(self) -> None:
        super().close()
        _of_engines[self.place].discard(self)


class SqliteBackend(Backend):
    """A file. The ADBC driver brings its own copy of SQLite, and POSIX file locks belong to a
    process: if Python's `sqlite3` closes a file that the other copy has open, the other's locks are
    lost, and with them what another process commits meanwhile. So within a process the two take turns:
    neither can be opened while the other is."""

    name = "sqlite"

    PRAGMAS: Final = (
        "PRAGMA busy_timeout = 60000",
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = NORMAL",
        "PRAGMA cache_size = -64000",
        "PRAGMA temp_store = MEMORY",
        "PRAGMA mmap_size = 1073741824",
    )

    @property
    def file(self) -> str:
        return self.url.database or ""

    @property
    def is_missing(self) -> bool:
        return not (self.file and Path(self.file).exists())

    @property
    def _place(self) -> str:
        """The file, however its name is spelled."""
        return os.path.realpath(self.file)

    def adbc_connect(self) -> Any:
        # Imported here: it loads pandas, which the API and the command line do without.
        import adbc_driver_sqlite.dbapi

        with _opening:
            if self.file and _of_engines[self._place]:
                raise RuntimeError(
                    f"an engine of this process has {self.file} open, and locks of a job would be lost when "
                    "it closes it: close its connections first, or do this in another process"
                )
            connection = adbc_driver_sqlite.dbapi.connect(self.file)
            _of_jobs[self._place].add(connection)
        return connection

    def adbc_close(self, connection: Any) -> None:
        super().adbc_close(connection)
        _of_jobs[self._place].discard(connection)

    def pool_options(self, most: int) -> dict[str, Any]:
        # Without a file, in memory, each thread has a database of its own.
        return super().pool_options(most) if self.file else {}

    def prepare_engine(self, engine: Engine, *, pooled: bool) -> None:
        if self.file:
            Path(self.file).parent.mkdir(parents=True, exist_ok=True)
        busy = [f"PRAGMA busy_timeout = {_API_BUSY_SECONDS * 1_000}"] if pooled else []

        @event.listens_for(engine, "connect")
        def set_pragmas(connection: Any, _record: Any) -> None:
            # SQLAlchemy emits BEGIN itself (below), so that a read and the write after it are one snapshot.
            connection.isolation_level = None
            cursor = connection.cursor()
            for pragma in (*self.PRAGMAS, *busy):
                cursor.execute(pragma)
            cursor.close()

        @event.listens_for(engine, "begin")
        def begin(connection: Connection) -> None:
            # A transaction that means to write takes the lock at once (execution option `writes`): SQLite
            # would refuse to promote a reader whose snapshot is no longer the newest, without waiting.
            if connection.get_execution_options().get("writes", False):
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            else:
                # A BEGIN takes no lock, so it meets no error that SQLAlchemy would have to name. Each request
                # begins one, and the driver alone takes a fraction of the time.
                connection.connection.cursor().execute("BEGIN").close()

        @event.listens_for(engine, "do_connect")
        def connect(
            dialect: Dialect, _record: Any, args: list[Any], options: dict[str, Any]
        ) -> Any:
            # Refused before the file is opened: to close it again would lose the locks already.
            with _opening:
                if self.file and _of_jobs[self._place]:
                    raise RuntimeError(
                        f"a job of this process has {self.file} open, and its locks would be lost when an "
                        "engine closes it: ask the job's connection, close that first, or do this in another "
                        "process"
                    )
                connection: Any = dialect.connect(*args, **options, factory=_EngineConnection)
                connection.place = self._place
                _of_engines[connection.place].add(connection)
            return connection

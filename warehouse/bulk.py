"""Columns in, columns out: the way in which jobs read and write, over ADBC, on both databases.

One `Bulk` is one connection and, until `commit`, one transaction; facts, summaries and the mark that
a batch is done are written through the same one. SQL is written for both databases: parameters are
`$1`, `$2`, ...; sets of keys travel as temporary tables (`stage`).

The SQLite driver brings its own copy of SQLite, and POSIX file locks belong to a process: were
Python's `sqlite3` to close the same file while a `Bulk` is open, it would drop this one's locks. So
within a process the two take turns. `open_bulk` is the only door, and refuses while an engine of this
process has the file open (see `engine.py`, which never pools SQLite in jobs).
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Final, Self

import adbc_driver_manager
import adbc_driver_postgresql.dbapi
import adbc_driver_sqlite.dbapi
import pyarrow as pa

from warehouse.absent import Absent
from warehouse.address import SQLITE_PRAGMAS, Address, address_of, refuse_shared_locks
from warehouse.columns import Table
from warehouse.outages import Unavailable
from warehouse.owners import me, shown

Cell = int | str

# Less of the file than the API maps: a job reads all of it once, and what is mapped counts as memory.
_MAPPED_BYTES: Final = 256 * 1024 * 1024
# How long SQLite tries to get the lock of its one writer before the wait is told.
_PATIENCE_MS: Final = 2_000
# How long a connection that must not wait does so.
_IMPATIENCE_MS: Final = 500


class Bulk:
    """One connection, one transaction at a time. All tables that come and go are Arrow tables."""

    def __init__(self, address: Address, *, patient: bool = True) -> None:
        self._address = address
        self.sqlite = address.sqlite
        self._patient = patient
        # Told for whom this connection waits; what is unknown is "".
        self.on_wait: Callable[[str], None] = lambda _holder: None
        self._begun = False
        self._by_index = False
        self._beside: Bulk | None = None
        self.absent = Absent()
        # The number of PostgreSQL's process that serves this connection.
        self.backend: int | None = None
        if self.sqlite:
            self._connection = adbc_driver_sqlite.dbapi.connect(address.uri)
            self._connection.adbc_connection.set_autocommit(True)
            for pragma in SQLITE_PRAGMAS:
                self.execute(pragma)
            self.execute(f"PRAGMA mmap_size = {_MAPPED_BYTES}")
            self.execute(f"PRAGMA busy_timeout = {_PATIENCE_MS if patient else _IMPATIENCE_MS}")
            self._connection.adbc_connection.set_autocommit(False)
        else:
            self._connection = adbc_driver_postgresql.dbapi.connect(address.uri)
            # So that whoever waits for this process can say for which.
            self.execute(f"SET application_name = '{shown(me())}'")
            # To compile a statement takes longer than any of these run.
            self.execute("SET jit = off")
            if not patient:
                self.execute(f"SET lock_timeout = {_IMPATIENCE_MS}")
            self.backend = self.value("SELECT pg_backend_pid()")
            self.commit()
        self._begun = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Undo what is not committed, and close."""
        if self._beside:
            self._beside.close()
        self._connection.close()

    def another(self) -> "Bulk":
        """A second connection to the same warehouse, with transactions of its own."""
        other = Bulk(self._address)
        other.on_wait, other.absent = self.on_wait, self.absent
        if self._by_index:
            other.look_up_by_index()
        return other

    @contextmanager
    def beside(self) -> Iterator["Bulk"]:
        """A second connection, the same one each time: to make one takes as long as some look-ups. Its
        transaction ends with the block."""
        if self._beside is None:
            self._beside = self.another()
        try:
            yield self._beside
        except BaseException:
            self._beside.close()
            self._beside = None
            raise
        self._beside.commit()

    def _dialect(self, sql: str) -> str:
        # SQLite takes `$1` for a name, numbered by its first appearance; its own form is `?1`.
        return re.sub(r"\$(\d+)", r"?\1", sql) if self.sqlite else sql

    def execute(self, sql: str, *values: Cell) -> None:
        self._patiently(lambda cursor: cursor.execute(self._dialect(sql), values or None))

    def table(self, sql: str, *values: Cell) -> pa.Table:
        """The rows of a SELECT (or of a statement with RETURNING)."""

        def fetch(cursor: Any) -> pa.Table:
            cursor.execute(self._dialect(sql), values or None)
            return cursor.fetch_arrow_table()

        return self._patiently(fetch)

    def _patiently(self, run: Callable[[Any], Any]) -> Any:
        """Run a statement; wait for SQLite's one writer for as long as it takes, and say so."""
        while True:
            begun_at = time.monotonic()
            try:
                with self._connection.cursor() as cursor:
                    result = run(cursor)
            except adbc_driver_manager.OperationalError as error:
                waited = time.monotonic() - begun_at > _PATIENCE_MS / 2_000
                # Refused at once in mid-transaction: what was read is no longer the newest state,
                # and no wait makes it so.
                curable = self._patient and (waited or not self._begun)
                if not (self.sqlite and curable and "is locked" in str(error)):
                    raise
                self.on_wait("")
                time.sleep(0 if waited else _PATIENCE_MS / 10_000)
            else:
                self._begun = True
                return result

    def rows_of(self, table: Table, sql: str, *values: Cell) -> pa.Table:
        """The rows of a SELECT of a table's columns, in the table's types: where there are no rows,
        SQLite does not know them."""
        rows = self.table(sql, *values)
        schema = schema_of(table, tuple(rows.column_names))
        return rows if rows.schema.equals(schema) else rows.cast(schema)

    def value(self, sql: str, *values: Cell) -> Any:
        """The first value of the first row, or None."""
        rows = self.table(sql, *values)
        return rows.column(0)[0].as_py() if rows.num_rows else None

    def changed(self, sql: str, *values: Cell) -> int:
        """How many rows a statement with RETURNING touched."""
        return self.table(sql, *values).num_rows

    def append(self, table: str, rows: pa.Table) -> None:
        if rows.num_rows:
            with self._connection.cursor() as cursor:
                cursor.adbc_ingest(table, rows, mode="append")

    def stage(self, name: str, rows: pa.Table) -> str:
        """Put rows into a temporary table of this name (in place of what was in it)."""
        with self._connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE IF EXISTS {name}")
            cursor.adbc_ingest(name, rows, mode="create", temporary=True)
        return name

    def look_up_by_index(self) -> None:
        """Have PostgreSQL look up every set of staged keys by index from here on. It knows nothing of
        the rows of a temporary table, and would read all facts there are for each set. Commits."""
        self._by_index = True
        if not self.sqlite:
            for plan in ("hashjoin", "mergejoin"):
                self.execute(f"SET enable_{plan} = off")
            self.commit()

    def analyze(self, table: str) -> None:
        """Have PostgreSQL count what a table holds, which it else does some time after an import: until
        then it takes a large one for small, and may join it with itself row by row."""
        if not self.sqlite:
            self.execute(f"ANALYZE {table}")

    def analyze_unknown(self, tables: Sequence[str]) -> None:
        """Have PostgreSQL count those of the tables that it never has: until then it takes one index
        for as good as another. Commits."""
        if not self.sqlite:
            listed = ", ".join(f"'{table}'" for table in tables)
            # A tenth of the usual sample says as much of keys, of which no two rows are alike.
            self.execute("SET LOCAL default_statistics_target = 10")
            never = f"SELECT relname FROM pg_class WHERE reltuples < 0 AND relname IN ({listed})"
            for table in self.table(never).column(0).to_pylist():
                self.analyze(table)
            self.commit()

    def commit(self) -> None:
        self._connection.commit()
        self._begun = False

    def rollback(self) -> None:
        self._connection.rollback()
        self._begun = False


@contextmanager
def open_bulk(url: str, *, patient: bool = True) -> Iterator[Bulk]:
    """A `Bulk` on the warehouse; what is not committed at the end is undone. One that is not
    `patient` fails where it would have to wait for another's lock.

    Raises Unavailable when the database does not answer.
    """
    address = address_of(url)
    refuse_shared_locks(address)
    try:
        bulk = Bulk(address, patient=patient)
    except adbc_driver_manager.OperationalError as error:
        raise Unavailable(str(error)) from error
    with bulk:
        yield bulk


@cache
def schema_of(table: Table, columns: tuple[str, ...]) -> pa.Schema:
    """These columns of a table as jobs want them; the databases have narrower and wider types."""
    return pa.schema(
        [(name, pa.string() if name in table.texts else pa.int64()) for name in columns]
    )


def names(columns: Sequence[str], prefix: str = "") -> str:
    """Column names for a statement; each is quoted, since `order` is a word of SQL."""
    return ", ".join(f'{prefix}"{column}"' for column in columns)

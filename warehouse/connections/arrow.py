"""The connections of jobs, over ADBC, on both databases: columns in, columns out.

An `ArrowConnection` is one connection and, until `commit`, one transaction. Facts, summaries and the
mark that a batch is applied are written through the same one. SQL is written for both databases:
parameters are `$1`, `$2`, ...; sets of keys travel as temporary tables (`stage`). `SqliteConnection` and
`PostgresConnection` are what the two do differently; where a database needs nothing, it does nothing.
"""

import re
import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from contextvars import copy_context
from functools import cache
from itertools import islice
from typing import Any, Final, Self, TypeVar

import adbc_driver_manager
import pyarrow as pa
from sqlalchemy import Table

from warehouse.connections.backend import Backend
from warehouse.connections.engine import backend_of
from warehouse.connections.errors import Unavailable, sqlite_code
from warehouse.connections.postgresql import PostgresBackend
from warehouse.connections.sqlite import SqliteBackend
from warehouse.domain.time import MICROS_PER_SECOND
from warehouse.operations.process_id import own_name
from warehouse.tables.base import is_text

Cell = int | str
T = TypeVar("T")

# How long SQLite tries to get its only write lock before the wait is reported.
_BUSY_SECONDS: Final = 2.0
_RETRY_SECONDS: Final = 0.2
# How long a connection that must not wait for locks does so.
_NO_WAIT_MS: Final = 500
# Record batches of a chunk. SQLite's driver has 1,024 rows in one.
_BATCHES: Final = 64


class ArrowConnection(ABC):
    """One connection, with one transaction at a time. Tables that come and go are Arrow tables."""

    # The end of `INSERT INTO ... SELECT ... FROM staged {}` that keeps the order of a column `place`.
    ordered_by_place: str
    # The end of a SELECT of rows to write to, which leaves out those that another transaction has locked.
    skip_locked: str
    # Whether several processes can write at once.
    has_many_writers: bool
    # The server's process that serves the connection.
    server_pid: int | None = None

    def __init__(self, backend: Backend, *, wait_for_locks: bool = True) -> None:
        self._backend = backend
        self.url, self.file = backend.url, backend.file
        self._wait_for_locks = wait_for_locks
        # Called with the process that holds a lock that this connection waits for, "" if unknown.
        self.on_lock_wait: Callable[[str], None] = lambda _holder: None
        self._in_transaction = False
        self._connection = backend.adbc_connect()
        try:
            # Some of SQLite's settings cannot be made in a transaction.
            self._connection.adbc_connection.set_autocommit(True)
            self._set_up()
            self._connection.adbc_connection.set_autocommit(False)
        except BaseException:
            self.close()
            raise
        self._in_transaction = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Roll back what is not committed, and close."""
        self._backend.adbc_close(self._connection)

    @abstractmethod
    def _set_up(self) -> None:
        """Make the settings of a job's session."""

    def execute(self, sql: str, *values: Cell) -> None:
        self._run(lambda cursor: self._execute(cursor, sql, values))

    def table(self, sql: str, *values: Cell) -> pa.Table:
        """The rows of a SELECT (or of a statement with RETURNING)."""

        def fetch(cursor: Any) -> pa.Table:
            self._execute(cursor, sql, values)
            return cursor.fetch_arrow_table()

        return self._run(fetch)

    def _execute(self, cursor: Any, sql: str, values: tuple[Cell, ...]) -> None:
        cursor.execute(self._with_parameters(sql), values or None)

    def _with_parameters(self, sql: str) -> str:
        """A statement with parameters `$1`, `$2`, ... in the database's own notation."""
        return sql

    def _is_busy(self, _error: Exception) -> bool:
        """Whether a statement failed because of a lock that the database did not wait for."""
        return False

    def _run(self, statement: Callable[[Any], Any]) -> Any:
        """Run a statement; wait for SQLite's only write lock for as long as it takes, and report it."""
        while True:
            started_at = time.monotonic()
            try:
                with self._connection.cursor() as cursor:
                    result = statement(cursor)
            except adbc_driver_manager.OperationalError as error:
                has_waited = time.monotonic() - started_at > _BUSY_SECONDS / 2
                # Refused at once in mid-transaction: what was read is no longer the newest state,
                # and waiting does not change that.
                is_curable = self._wait_for_locks and (has_waited or not self._in_transaction)
                if not (is_curable and self._is_busy(error)):
                    raise
                self.on_lock_wait("")
                time.sleep(0 if has_waited else _RETRY_SECONDS)
            else:
                self._in_transaction = True
                return result

    def chunks(self, sql: str) -> Iterator[pa.Table]:
        """The rows of a SELECT, in chunks: for what memory may not hold at once."""
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            batches = iter(cursor.fetch_record_batch())
            while chunk := list(islice(batches, _BATCHES)):
                yield pa.Table.from_batches(chunk)

    def rows_of(self, table: Table, sql: str, *values: Cell) -> pa.Table:
        """The rows of a SELECT of a table's columns, in the table's types: where there are no rows,
        SQLite does not know them."""
        return _in_types_of(table, self.table(sql, *values))

    def parts_of(self, table: Table, sql: str, most: int) -> Generator[pa.Table]:
        """The result of `table` in parts of about `most` rows, at least one. While one is used, the next is
        read, and no other is in memory. The connection does nothing else until the last is taken, or the
        generator is closed."""
        with (
            closing(self._read_parts(table, sql, most)) as read,
            closing(background_iter(read)) as parts,
        ):
            yield from parts

    def _read_parts(self, table: Table, sql: str, most: int) -> Generator[pa.Table]:
        with self._connection.cursor() as cursor:
            self._execute(cursor, sql, ())
            self._in_transaction = True
            reader = cursor.fetch_record_batch()
            part: list[pa.RecordBatch] = []
            rows, left = 0, most
            for batch in reader:
                part.append(batch)
                rows += batch.num_rows
                if rows >= left:
                    left = rows + most
                    yield _taken(table, reader.schema, part)
            if part or not rows:
                yield _taken(table, reader.schema, part)

    def value(self, sql: str, *values: Cell) -> Any:
        """The first value of the first row, or None."""
        rows = self.table(sql, *values)
        return rows.column(0)[0].as_py() if rows.num_rows else None

    def answers(self) -> bool:
        """Whether the warehouse answers a plain statement. Rolls back."""
        try:
            self.rollback()
            self.value("SELECT 1")
            self.rollback()
        except adbc_driver_manager.Error:
            return False
        return True

    def changed(self, sql: str, *values: Cell) -> int:
        """The number of rows that a statement with RETURNING touched."""
        return self.table(sql, *values).num_rows

    def append(self, table: str, rows: pa.Table, *, is_temporary: bool = False) -> None:
        if rows.num_rows:
            with self._connection.cursor() as cursor:
                cursor.adbc_ingest(table, rows, mode="append", temporary=is_temporary)

    def stage(self, name: str, rows: pa.Table) -> str:
        """Put rows into a temporary table of this name, which replaces an earlier one."""
        with self._connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE IF EXISTS {name}")
            cursor.adbc_ingest(name, rows, mode="create", temporary=True)
        return name

    def lock_rows(self, table: str, key: str, where: str, *values: Cell) -> None:
        """Lock the rows that meet a condition, in the order of their key: processes that lock some
        of the same rows then never wait for each other in a circle."""

    def keep_shops(self, shops: str) -> None:
        """Take a shared lock on these shops (an SQL list) until the end of the transaction: none can be
        deleted, and `lock_shops` waits. An import numbers its batches only then."""

    @abstractmethod
    def lock_shops(self, shops: str) -> None:
        """Take an exclusive lock on these shops (an SQL list) until the end of the transaction: waits for
        imports that write rows of them, and keeps others from beginning."""

    def lock_quiet_shops(self, shops: str) -> str:
        """Lock those of the shops that can be locked at once; returns them as an SQL list."""
        return shops

    @abstractmethod
    def lock_table(self, table: str) -> None:
        """Keep others from writing to a table until the end of the transaction, not from reading."""

    def prefer_index_lookups(self) -> None:
        """Look up every set of staged keys by index from here on. Commits."""

    def analyze(self, table: str) -> None:
        """Update what the database's planner knows of a table."""

    def analyze_grown(self, tables: Iterable[Table]) -> None:
        """Let the planner count the tables most of whose rows it has not counted. Commits."""

    def tune_for_import(self) -> None:
        """Trade memory and log size for the speed of large inserts."""

    def spill_temporary_tables(self) -> None:
        """From here on, keep only a part of temporary tables in memory. Rolls back; those there are go."""

    @abstractmethod
    def now_micros(self) -> int:
        """The present instant in microseconds, by the clock that all who use the warehouse share: the
        database server's, or on SQLite this machine's."""

    def identity(self) -> str:
        """A text that identifies this warehouse, the same for all who use it now, however they spell its
        address: a restored or cloned copy has another one. They change when the server starts again. ("" on
        SQLite, where one machine has it.) Commits."""
        return ""

    def kept_in_log(self) -> int:
        """The committed bytes in SQLite's write-ahead log that a reader keeps from being taken into the file,
        after another try to take them in. (0 on PostgreSQL.) Commits."""
        return 0

    def blocker(self, _server_pid: int) -> str | None:
        """The process ("host:pid") that the connection of that server process waits for. Commits."""
        return None

    def commit(self) -> None:
        self._connection.commit()
        self._in_transaction = False

    def rollback(self) -> None:
        self._connection.rollback()
        self._in_transaction = False


class SqliteConnection(ArrowConnection):
    """A job's connection to a file."""

    # Rows are read in the order in which they were staged; an ORDER BY would sort them again.
    ordered_by_place = "WHERE true"
    skip_locked = ""
    has_many_writers = False

    # A checkpoint per 80 MB (4 KiB a page) instead of per commit: commits take half the time.
    _IMPORT_CHECKPOINT_PAGES: Final = 20_000

    def _set_up(self) -> None:
        timeout = int(_BUSY_SECONDS * 1_000) if self._wait_for_locks else _NO_WAIT_MS
        for pragma in (
            *SqliteBackend.PRAGMAS,
            # A job reads all of it once, and pages that are read through the map count as its memory.
            "PRAGMA mmap_size = 0",
            f"PRAGMA busy_timeout = {timeout}",
        ):
            self.execute(pragma)

    def _with_parameters(self, sql: str) -> str:
        # SQLite takes `$1` for a name, numbered by its first appearance; its own form is `?1`.
        return re.sub(r"\$(\d+)", r"?\1", sql)

    def _is_busy(self, error: Exception) -> bool:
        return sqlite_code(error) == sqlite3.SQLITE_BUSY

    def lock_shops(self, shops: str) -> None:
        self.lock_table("shop")

    def lock_table(self, table: str) -> None:
        # A transaction that has read can no longer become the writer once another has written.
        self.execute("UPDATE shop SET edition = edition WHERE shop_key = 0")

    def tune_for_import(self) -> None:
        self.execute(f"PRAGMA wal_autocheckpoint = {self._IMPORT_CHECKPOINT_PAGES}")

    def spill_temporary_tables(self) -> None:
        self.rollback()
        self._connection.adbc_connection.set_autocommit(True)
        self.execute("PRAGMA temp_store = FILE")
        self.execute("PRAGMA temp.cache_size = -64000")
        self._connection.adbc_connection.set_autocommit(False)
        self._in_transaction = False

    def now_micros(self) -> int:
        return int(time.time() * MICROS_PER_SECOND)

    def kept_in_log(self) -> int:
        # Within a transaction it would be a reader itself.
        self.commit()
        (tried,) = self.table("PRAGMA wal_checkpoint(PASSIVE)").to_pylist()
        self.commit()
        # Busy: another takes it in just now.
        pages = 0 if tried["busy"] else tried["log"] - tried["checkpointed"]
        return pages * int(self.value("PRAGMA page_size"))


class PostgresConnection(ArrowConnection):
    """A job's connection to a server."""

    ordered_by_place = "ORDER BY place"
    skip_locked = "FOR UPDATE SKIP LOCKED"
    has_many_writers = True

    # The server ends the session of a job that does nothing in a transaction for so long: its process is
    # frozen, and others wait for its locks. No job computes for as long between two statements.
    _IDLE_TIMEOUT: Final = "15min"
    # In the order in which all lock them, so that two never wait for each other in a circle.
    _SHOPS: Final = "SELECT shop_key FROM shop WHERE shop_key IN ({}) ORDER BY shop_key"

    def _set_up(self) -> None:
        for statement in (
            # A process that waits for this one can name it by that (`blocker`).
            f"SET application_name = '{own_name()}'",
            # The server's names of the same, but for the last, begin with `tcp_`.
            *(
                f"SET tcp_{name.removeprefix('tcp_')} = {value}"
                for name, value in PostgresBackend.KEEPALIVES
            ),
            f"SET idle_in_transaction_session_timeout = '{self._IDLE_TIMEOUT}'",
            # To compile a statement takes longer than any of these run.
            "SET jit = off",
            *([] if self._wait_for_locks else [f"SET lock_timeout = {_NO_WAIT_MS}"]),
        ):
            self.execute(statement)
        self.server_pid = int(self.value("SELECT pg_backend_pid()"))

    def lock_rows(self, table: str, key: str, where: str, *values: Cell) -> None:
        # The rows are written later. Without its lock until then, a `lock_table` could come in between, and
        # both would wait for each other.
        self.execute(f"LOCK TABLE {table} IN ROW EXCLUSIVE MODE")
        self.table(
            f"SELECT {key} FROM {table} WHERE {where} ORDER BY {key} FOR NO KEY UPDATE", *values
        )

    def keep_shops(self, shops: str) -> None:
        self.table(f"{self._SHOPS.format(shops)} FOR KEY SHARE")

    def lock_shops(self, shops: str) -> None:
        self.execute("LOCK TABLE shop IN ROW EXCLUSIVE MODE")
        self.table(f"{self._SHOPS.format(shops)} FOR UPDATE")

    def lock_quiet_shops(self, shops: str) -> str:
        quiet = self.table(f"{self._SHOPS.format(shops)} FOR UPDATE SKIP LOCKED")
        return ", ".join(map(str, quiet.column(0).to_pylist())) or "NULL"

    def lock_table(self, table: str) -> None:
        self.execute(f"LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE")

    def prefer_index_lookups(self) -> None:
        # The planner knows nothing of the rows of a temporary table: it would read all facts for
        # every set of staged keys.
        for plan in ("hashjoin", "mergejoin"):
            self.execute(f"SET enable_{plan} = off")
        self.commit()

    def analyze(self, table: str) -> None:
        # The server does it some time after an import. Until then it takes a large table for small,
        # and may join it with itself row by row.
        self.execute(f"ANALYZE {table}")

    def analyze_grown(self, tables: Iterable[Table]) -> None:
        listed = ", ".join(f"'{table.name}'" for table in tables)
        # A tenth of the usual sample is enough for keys, which are all different.
        self.execute("SET LOCAL default_statistics_target = 10")
        grown = (
            "SELECT c.relname FROM pg_class c JOIN pg_stat_user_tables s ON s.relid = c.oid "
            f"WHERE c.relname IN ({listed}) AND (c.reltuples < 0 OR s.n_mod_since_analyze > c.reltuples)"
        )
        for table in self.table(grown).column(0).to_pylist():
            self.analyze(table)
        self.commit()

    def now_micros(self) -> int:
        return int(
            self.value("SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)")
        )

    def identity(self) -> str:
        # Any role may read both. Two servers do not start in the same microsecond, also where one is a
        # copy of the other's files.
        words = self.value(
            "SELECT 'database ' || oid || ' of the server that started at ' || "
            "to_char(pg_postmaster_start_time() AT TIME ZONE 'UTC', "
            """'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') """
            "FROM pg_database WHERE datname = current_database()"
        )
        self.commit()
        return str(words)

    def blocker(self, server_pid: int) -> str | None:
        name: str | None = self.value(
            "SELECT application_name FROM pg_stat_activity "
            "WHERE pid = ANY(pg_blocking_pids(CAST($1 AS INTEGER))) LIMIT 1",
            server_pid,
        )
        self.commit()
        return name


def open_arrow(url: str, *, wait_for_locks: bool = True) -> ArrowConnection:
    """Connect to the warehouse. The end of a `with` block rolls back what is not committed, and closes.
    Without `wait_for_locks` a statement fails if it would have to wait for a lock.

    Raises Unavailable if the database does not answer.
    """
    backend = backend_of(url)
    kind = SqliteConnection if isinstance(backend, SqliteBackend) else PostgresConnection
    try:
        return kind(backend, wait_for_locks=wait_for_locks)
    except adbc_driver_manager.OperationalError as error:
        raise Unavailable(str(error)) from error


def _taken(table: Table, schema: pa.Schema, part: list[pa.RecordBatch]) -> pa.Table:
    """Take the rows out of a part, which is empty then."""
    rows = pa.Table.from_batches(part, schema)
    part.clear()
    return _in_types_of(table, rows)


def _in_types_of(table: Table, rows: pa.Table) -> pa.Table:
    schema = schema_of(table, tuple(rows.column_names))
    return rows if rows.schema.equals(schema) else rows.cast(schema)


@cache
def schema_of(table: Table, columns: tuple[str, ...]) -> pa.Schema:
    """These columns of a table as jobs want them; the databases have narrower and wider types."""
    return pa.schema(
        [(name, pa.string() if is_text(table.c[name]) else pa.int64()) for name in columns]
    )


def names(columns: Sequence[str], prefix: str = "") -> str:
    """Column names for a statement; each is quoted, since `order` is a word of SQL."""
    return ", ".join(f'{prefix}"{column}"' for column in columns)


def background_iter(items: Iterable[T]) -> Generator[T, None, None]:
    """Iterate over items, each of which is made in a second thread while the one before it is used. An error
    raised there is raised here. Closing the generator waits for the item that is being made. Context
    variables are there as they are here at the begin."""
    iterator, context, end = iter(items), copy_context(), object()

    def make() -> Any:
        return next(iterator, end)

    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(context.run, make)
        while (item := following.result()) is not end:
            following = pool.submit(context.run, make)
            yield item

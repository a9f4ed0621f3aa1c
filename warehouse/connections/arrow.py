"""Columns in, columns out: how jobs read and write, over ADBC, on both databases.

An `ArrowConnection` is one connection and, until `commit`, one transaction. Facts, summaries and the
mark that a batch is applied are written through the same one. SQL is written for both databases:
parameters are `$1`, `$2`, ...; sets of keys travel as temporary tables (`stage`).
"""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Any, Final, Self

import adbc_driver_manager
import pyarrow as pa
from sqlalchemy import Table

from warehouse.connections.backend import BUSY_SECONDS, Backend
from warehouse.connections.backends import backend_of
from warehouse.connections.errors import Unavailable
from warehouse.tables.base import is_text

Cell = int | str

_RETRY_SECONDS: Final = 0.2
# Those of a portion. SQLite's driver has 1,024 rows in one.
_BATCHES: Final = 64


class ArrowConnection:
    """One connection, with one transaction at a time. Tables that come and go are Arrow tables."""

    def __init__(self, backend: Backend, *, wait_for_locks: bool = True) -> None:
        self.backend = backend
        self._wait_for_locks = wait_for_locks
        # Called with the process that holds a lock that this connection waits for, "" if unknown.
        self.on_lock_wait: Callable[[str], None] = lambda _holder: None
        self._in_transaction = False
        self._prefers_index_lookups = False
        self._connection = backend.adbc_connect()
        try:
            # Some of SQLite's settings cannot be made in a transaction.
            self._connection.adbc_connection.set_autocommit(True)
            for statement in backend.session_statements(wait_for_locks=wait_for_locks):
                self.execute(statement)
            self.server_pid = backend.server_pid(self)
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
        self.backend.adbc_close(self._connection)

    def second_connection(self) -> "ArrowConnection":
        """Another connection to the same warehouse, with transactions of its own."""
        second = ArrowConnection(self.backend)
        second.on_lock_wait = self.on_lock_wait
        if self._prefers_index_lookups:
            second.prefer_index_lookups()
        return second

    def execute(self, sql: str, *values: Cell) -> None:
        self._run(lambda cursor: self._execute(cursor, sql, values))

    def table(self, sql: str, *values: Cell) -> pa.Table:
        """The rows of a SELECT (or of a statement with RETURNING)."""

        def fetch(cursor: Any) -> pa.Table:
            self._execute(cursor, sql, values)
            return cursor.fetch_arrow_table()

        return self._run(fetch)

    def _execute(self, cursor: Any, sql: str, values: tuple[Cell, ...]) -> None:
        cursor.execute(self.backend.with_parameters(sql), values or None)

    def _run(self, statement: Callable[[Any], Any]) -> Any:
        """Run a statement; wait for SQLite's only write lock for as long as it takes, and report it."""
        while True:
            started_at = time.monotonic()
            try:
                with self._connection.cursor() as cursor:
                    result = statement(cursor)
            except adbc_driver_manager.OperationalError as error:
                has_waited = time.monotonic() - started_at > BUSY_SECONDS / 2
                # Refused at once in mid-transaction: what was read is no longer the newest state,
                # and waiting does not change that.
                is_curable = self._wait_for_locks and (has_waited or not self._in_transaction)
                if not (is_curable and self.backend.is_busy(error)):
                    raise
                self.on_lock_wait("")
                time.sleep(0 if has_waited else _RETRY_SECONDS)
            else:
                self._in_transaction = True
                return result

    def portions(self, sql: str) -> Iterator[pa.Table]:
        """The rows of a SELECT, in portions: for what memory may not hold at once."""
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            batches = iter(cursor.fetch_record_batch())
            while portion := list(islice(batches, _BATCHES)):
                yield pa.Table.from_batches(portion)

    def rows_of(self, table: Table, sql: str, *values: Cell) -> pa.Table:
        """The rows of a SELECT of a table's columns, in the table's types: where there are no rows,
        SQLite does not know them."""
        return _in_types_of(table, self.table(sql, *values))

    def parts_of(self, table: Table, sql: str, most: int) -> Generator[pa.Table]:
        """The same in parts of about `most` rows, at least one. No other part is in memory meanwhile, and the
        connection does nothing else until the last is taken, or the generator is closed."""
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
        """How many rows a statement with RETURNING touched."""
        return self.table(sql, *values).num_rows

    def append(self, table: str, rows: pa.Table) -> None:
        if rows.num_rows:
            with self._connection.cursor() as cursor:
                cursor.adbc_ingest(table, rows, mode="append")

    def stage(self, name: str, rows: pa.Table) -> str:
        """Put rows into a temporary table of this name, which replaces an earlier one."""
        with self._connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE IF EXISTS {name}")
            cursor.adbc_ingest(name, rows, mode="create", temporary=True)
        return name

    def lock_rows(self, table: str, key: str, where: str, *values: Cell) -> None:
        """Lock the rows that meet a condition, in the order of their key: processes that lock some
        of the same rows then never wait for each other in a circle."""
        self.backend.lock_rows(self, table, key, where, *values)

    def keep_shops(self, shops: str) -> None:
        """Begin to import rows of these shops (an SQL list): until the end of the transaction nobody deletes
        one, and `lock_shops` waits. An import numbers its batches only then."""
        self.backend.keep_shops(self, shops)

    def lock_shops(self, shops: str) -> None:
        """Wait for the imports that write rows of these shops (an SQL list), and keep others from beginning
        until the end of the transaction."""
        self.backend.lock_shops(self, shops)

    def lock_quiet_shops(self, shops: str) -> str:
        """The same for those of the shops that can be locked at once; returns them as an SQL list."""
        return self.backend.lock_quiet_shops(self, shops)

    def lock_table(self, table: str) -> None:
        """Keep others from writing to a table until the end of the transaction, not from reading."""
        self.backend.lock_table(self, table)

    def prefer_index_lookups(self) -> None:
        """From here on, look up every set of staged keys by index. Commits."""
        self._prefers_index_lookups = True
        self.backend.prefer_index_lookups(self)

    def analyze(self, table: str) -> None:
        """Update what the database's planner knows of a table."""
        self.backend.analyze(self, table)

    def analyze_new(self, tables: Sequence[str]) -> None:
        """Have the planner count the tables that it has never counted. Commits."""
        self.backend.analyze_new(self, tables)

    def tune_for_import(self) -> None:
        """Trade memory and log size for the speed of large inserts."""
        self.backend.tune_for_import(self)

    def now_micros(self) -> int:
        """The present instant in microseconds, by the clock that all who use the warehouse share: the
        database server's, or on SQLite this machine's."""
        return self.backend.now_micros(self)

    def identity(self) -> str:
        """Words for people that are the same for all who use this warehouse now, however they spell its
        address, and for nobody else: a restored or cloned copy has others. They change when the server
        starts again. ("" on SQLite, where one machine has it.) Commits."""
        return self.backend.identity(self)

    def blocker(self, server_pid: int) -> str | None:
        """The process ("host:pid") that the connection of that server process waits for. Commits."""
        return self.backend.blocker(self, server_pid)

    def commit(self) -> None:
        self._connection.commit()
        self._in_transaction = False

    def rollback(self) -> None:
        self._connection.rollback()
        self._in_transaction = False


@contextmanager
def open_arrow(url: str, *, wait_for_locks: bool = True) -> Iterator[ArrowConnection]:
    """As `connect_arrow`; what is not committed at the end of the block is rolled back."""
    with connect_arrow(url, wait_for_locks=wait_for_locks) as connection:
        yield connection


def connect_arrow(url: str, *, wait_for_locks: bool = True) -> ArrowConnection:
    """An `ArrowConnection` on the warehouse. Without `wait_for_locks` a statement fails if it would have
    to wait for a lock.

    Raises Unavailable if the database does not answer.
    """
    try:
        return ArrowConnection(backend_of(url), wait_for_locks=wait_for_locks)
    except adbc_driver_manager.OperationalError as error:
        raise Unavailable(str(error)) from error


def _taken(table: Table, schema: pa.Schema, part: list[pa.RecordBatch]) -> pa.Table:
    """The rows of a part, which is empty then."""
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

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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import adbc_driver_manager
import adbc_driver_postgresql.dbapi
import adbc_driver_sqlite.dbapi
import pyarrow as pa
from sqlalchemy import Table, Text
from sqlalchemy.engine import URL, make_url

from warehouse import engine

Cell = int | str


class Bulk:
    """One connection, one transaction at a time. All tables that come and go are Arrow tables."""

    def __init__(self, url: URL) -> None:
        self._url = url
        self.sqlite = url.get_backend_name() == "sqlite"
        self._staged: set[str] = set()
        if self.sqlite:
            self._connection = adbc_driver_sqlite.dbapi.connect(url.database or "")
            self._connection.adbc_connection.set_autocommit(True)
            for pragma in engine.SQLITE_PRAGMAS:
                self.execute(pragma)
            self._connection.adbc_connection.set_autocommit(False)
        else:
            plain = url.set(drivername="postgresql").render_as_string(hide_password=False)
            self._connection = adbc_driver_postgresql.dbapi.connect(plain)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Undo what is not committed, and close."""
        self._connection.close()

    def another(self) -> "Bulk":
        """A second connection to the same warehouse, with transactions of its own."""
        return Bulk(self._url)

    def _dialect(self, sql: str) -> str:
        # SQLite takes `$1` for a name, numbered by its first appearance; its own form is `?1`.
        return re.sub(r"\$(\d+)", r"?\1", sql) if self.sqlite else sql

    def execute(self, sql: str, *values: Cell) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(self._dialect(sql), values or None)

    def table(self, sql: str, *values: Cell) -> pa.Table:
        """The rows of a SELECT (or of a statement with RETURNING)."""
        with self._connection.cursor() as cursor:
            cursor.execute(self._dialect(sql), values or None)
            return cursor.fetch_arrow_table()

    def rows_of(self, table: Table, sql: str, *values: Cell) -> pa.Table:
        """The rows of a SELECT of a table's columns, in the table's types: where there are no rows,
        SQLite does not know them."""
        rows = self.table(sql, *values)
        kinds = {column.name: column.type for column in table.columns}
        fields = [
            pa.field(name, pa.string() if isinstance(kinds[name], Text) else pa.int64())
            for name in rows.column_names
        ]
        return rows.cast(pa.schema(fields))

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

    def commit(self) -> None:
        self._connection.commit()

    def rollback(self) -> None:
        self._connection.rollback()


@contextmanager
def open_bulk(url: str) -> Iterator[Bulk]:
    """A `Bulk` on the warehouse; what is not committed at the end is undone.

    Raises `engine.Unavailable` when the database does not answer.
    """
    parsed = make_url(url)
    engine.refuse_shared_locks(parsed)
    try:
        bulk = Bulk(parsed)
    except adbc_driver_manager.OperationalError as error:
        raise engine.Unavailable(str(error)) from error
    with bulk:
        yield bulk


def names(columns: Sequence[str], prefix: str = "") -> str:
    """Column names for a statement; each is quoted, since `order` is a word of SQL."""
    return ", ".join(f'{prefix}"{column}"' for column in columns)

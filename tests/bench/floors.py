"""Floors that nothing can beat with these drivers: bare writing and reading of the same rows.

An import reads the file, stages its rows and inserts those that are not there yet; a first rollup reads raw
rows and writes facts.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import adbc_driver_postgresql.dbapi
import adbc_driver_sqlite.dbapi
import pyarrow.parquet as pq
from sqlalchemy import Table, make_url

from tests.bench.processes import Took, timed
from warehouse import tables
from warehouse.connections.engine import open_engine
from warehouse.connections.sqlite import SqliteBackend
from warehouse.migrations.migrate import migrate

_RAW = (tables.raw_event, tables.raw_order)
_BATCH = 100_000
# Those of the warehouse; but staged rows go to disk, since there may be more than fit into memory.
_PRAGMAS = [pragma for pragma in SqliteBackend.PRAGMAS if "temp_store" not in pragma]


def reading(url: str, parquet: Path | None = None) -> Took:
    """All raw rows into Arrow; or all rows of a file."""

    def read() -> None:
        if parquet:
            for batch in pq.ParquetFile(parquet).iter_batches(_BATCH):
                del batch
            return
        with _cursor(url) as (_, cursor):
            for table in _RAW:
                cursor.execute(f"SELECT * FROM {table.name}")
                for batch in cursor.fetch_record_batch():
                    del batch

    return timed(url, read)


def writing(url: str, empty_url: str, copied: Sequence[Table], *, are_staged: bool = False) -> Took:
    """All rows of some tables of one warehouse into the same tables, with their keys and indexes, of an empty
    database."""
    engine = open_engine(empty_url)
    migrate(engine)
    engine.dispose()
    took = Took(0, 0, 0)
    with _cursor(url) as (_, source), _cursor(empty_url) as (connection, target):
        for table in copied:
            source.execute(f"SELECT * FROM {table.name}")
            rows = source.fetch_arrow_table()

            def write(name: str = table.name, rows: Any = rows) -> None:
                if are_staged:
                    # The SQLite driver takes a column's type from its first rows.
                    target.execute(f"CREATE TEMP TABLE staged AS SELECT * FROM {name} WHERE 1 = 0")
                    target.adbc_ingest("staged", rows, mode="append", temporary=True)
                    # Without a WHERE SQLite would take ON CONFLICT for a join's ON.
                    target.execute(
                        f"INSERT INTO {name} SELECT * FROM staged WHERE 1 = 1 ON CONFLICT DO NOTHING"
                    )
                else:
                    target.adbc_ingest(name, rows, mode="append")
                connection.commit()

            took += timed(empty_url, write)
    return took


@contextmanager
def _cursor(url: str) -> Iterator[tuple[Any, Any]]:
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        connection = adbc_driver_sqlite.dbapi.connect(parsed.database or "")
        connection.adbc_connection.set_autocommit(True)
        for pragma in _PRAGMAS:
            connection.execute(pragma)
        connection.adbc_connection.set_autocommit(False)
    else:
        plain = parsed.set(drivername="postgresql").render_as_string(hide_password=False)
        connection = adbc_driver_postgresql.dbapi.connect(plain)
    with connection, connection.cursor() as cursor:
        yield connection, cursor

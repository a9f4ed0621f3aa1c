"""Floors that nothing can beat with these drivers: bare writing and reading of the same rows.

Rows travel in batches, so that memory stays bounded; reading the Parquet file is a part of staging.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import adbc_driver_postgresql.dbapi
import adbc_driver_sqlite.dbapi
import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import make_url

from tests.bench.processes import Took, run
from warehouse import tables
from warehouse.connections.engine import open_engine
from warehouse.connections.sqlite import SqliteBackend
from warehouse.migrations.migrate import migrate

_BATCH = 100_000
# Those of the warehouse; but staged rows go to disk, since there may be more than fit into memory.
_PRAGMAS = [pragma for pragma in SqliteBackend.PRAGMAS if "temp_store" not in pragma]


def process_start(url: str) -> Took:
    """A command that does nothing but to start, with all that it imports."""
    return run(url, "jobs", "rollup", "--help")


def staging(url: str, parquet: Path) -> Took:
    """The rows of the file, staged and then inserted into an empty table with the events' unique key."""
    file = pq.ParquetFile(parquet)
    fields = [
        # Instants as whole numbers, which both drivers write without a detour.
        pa.field(one.name, pa.int64() if pa.types.is_timestamp(one.type) else one.type)
        for one in file.schema_arrow
    ]
    schema = pa.schema(fields)
    batches = (batch.cast(schema) for batch in file.iter_batches(_BATCH))
    columns = ", ".join(
        f"{one.name} {'BIGINT' if pa.types.is_integer(one.type) else 'TEXT'}" for one in schema
    )
    with _cursor(url) as (connection, cursor):
        # The SQLite driver takes a column's type from its first rows: tables are made beforehand.
        cursor.execute(f"CREATE TEMPORARY TABLE staged ({columns})")
        cursor.execute(f"CREATE TABLE floor_event ({columns}, UNIQUE (shop_id, event_id))")
        connection.commit()
        began = time.perf_counter()
        cursor.adbc_ingest(
            "staged",
            pa.RecordBatchReader.from_batches(schema, batches),
            mode="append",
            temporary=True,
        )
        # Without `WHERE true` SQLite would take ON CONFLICT for a join's ON.
        cursor.execute(
            "INSERT INTO floor_event SELECT * FROM staged WHERE true ON CONFLICT DO NOTHING"
        )
        connection.commit()
        return Took(time.perf_counter() - began, 0)


def reading(url: str) -> Took:
    """All raw rows into Arrow."""
    with _cursor(url) as (_, cursor):
        began = time.perf_counter()
        for table in (tables.raw_event, tables.raw_order):
            cursor.execute(f"SELECT * FROM {table.name}")
            for batch in cursor.fetch_record_batch():
                del batch
        return Took(time.perf_counter() - began, 0)


def writing(url: str, empty_url: str) -> Took:
    """All fact rows of one warehouse into the same tables, with their keys and indexes, of an empty
    database."""
    engine = open_engine(empty_url)
    migrate(engine)
    engine.dispose()
    seconds = 0.0
    with _cursor(url) as (_, source), _cursor(empty_url) as (connection, target):
        for table in tables.FACTS:
            source.execute(f"SELECT * FROM {table.name}")
            rows = source.fetch_arrow_table()
            began = time.perf_counter()
            target.adbc_ingest(table.name, rows, mode="append")
            connection.commit()
            seconds += time.perf_counter() - began
    return Took(seconds, 0)


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

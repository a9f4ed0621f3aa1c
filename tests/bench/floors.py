"""What nothing can be faster than, with these drivers: the bare writing and reading of the same rows."""

import time
from collections.abc import Callable
from pathlib import Path

import adbc_driver_postgresql.dbapi
import adbc_driver_sqlite.dbapi
import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import make_url

# What an event's key is in any warehouse.
_TABLE = "floor_events"
_UNIQUE = f"CREATE UNIQUE INDEX floor_events_key ON {_TABLE} (shop_id, event_id)"


def measure(url: str, parquet: Path) -> dict[str, float]:
    """Seconds to ingest the rows into an empty table with the events' unique key, and to read them."""
    rows = pq.read_table(parquet)
    # Instants as whole numbers, which both drivers write without a detour.
    at = rows.column("occurred_at").cast(pa.int64())
    rows = rows.set_column(rows.column_names.index("occurred_at"), "occurred_at", at)
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        connection = adbc_driver_sqlite.dbapi.connect(parsed.database or "")
    else:
        plain = parsed.set(drivername="postgresql").render_as_string(hide_password=False)
        connection = adbc_driver_postgresql.dbapi.connect(plain)
    with connection, connection.cursor() as cursor:
        # The SQLite driver takes a column's type from its first rows: the table is made beforehand.
        cursor.execute(_create(rows))
        cursor.execute(_UNIQUE)
        connection.commit()

        def write() -> None:
            cursor.adbc_ingest(_TABLE, rows, mode="append")
            connection.commit()

        def read() -> None:
            cursor.execute(f"SELECT * FROM {_TABLE}")
            for batch in cursor.fetch_record_batch():
                del batch

        return {"write_seconds": _timed(write), "read_seconds": _timed(read)}


def _create(rows: pa.Table) -> str:
    columns = ", ".join(
        f"{field.name} {'BIGINT' if pa.types.is_integer(field.type) else 'TEXT'}"
        for field in rows.schema
    )
    return f"CREATE TABLE {_TABLE} ({columns})"


def _timed(action: Callable[[], None]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began

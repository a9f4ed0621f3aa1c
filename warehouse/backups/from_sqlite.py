"""The backup of an SQLite warehouse, put into PostgreSQL: how a warehouse that outgrows its file moves.

The file is copied, checked and migrated as for a restore into SQLite; then its tables are copied, one after
the other, in one transaction of PostgreSQL.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import adbc_driver_manager
import pyarrow as pa
from sqlalchemy import BigInteger, Column, LargeBinary, SmallInteger, Table, Text
from sqlalchemy.engine import URL

from warehouse.backups import postgresql, sqlite
from warehouse.backups.files import BackupError, Progress, require_empty
from warehouse.connections.arrow import ArrowConnection, names, open_arrow
from warehouse.migrations.migrate import migrate_schema
from warehouse.tables.base import column_names, metadata

# The columns of the types that PostgreSQL's copy takes as they are.
_TYPES: Final[dict[type, pa.DataType]] = {
    Text: pa.string(),
    SmallInteger: pa.int16(),
    BigInteger: pa.int64(),
    LargeBinary: pa.binary(),
}


def restore(url: URL, file: Path, progress: Progress, force: bool) -> None:
    """Put the backup of an SQLite warehouse in the place of a PostgreSQL warehouse. Raises BackupError."""
    engine = postgresql.open_own(url)
    require_empty(engine, force=force)
    with tempfile.TemporaryDirectory(prefix="formrevenue-restore-") as folder:
        copied = URL.create("sqlite", database=str(Path(folder, "warehouse.db")))
        sqlite.prepare(file, copied, progress)
        migrate_schema(engine)
        with (
            open_arrow(copied.render_as_string()) as source,
            open_arrow(url.render_as_string(hide_password=False)) as target,
        ):
            target.execute(f"SET application_name = '{postgresql.OWN_NAME}'")
            target.commit()
            try:
                with postgresql.others_kept_out(engine):
                    _fill(target, source, progress)
            except adbc_driver_manager.Error as error:
                raise BackupError(f"could not be restored: {error}") from error


def _fill(target: ArrowConnection, source: ArrowConnection, progress: Progress) -> None:
    tables = metadata.sorted_tables
    target.execute(f"TRUNCATE {', '.join(table.name for table in tables)}")
    for table in tables:
        done = 0
        for rows in _portions(source, table):
            target.append(table.name, rows)
            done += rows.nbytes
            progress(table.name, done, 0)
        target.analyze(table.name)
        for column in table.columns:
            if table.autoincrement_column is column:
                _count_on(target, source, column)
    target.commit()


def _portions(source: ArrowConnection, table: Table) -> Iterator[pa.Table]:
    columns = column_names(table)
    schema = pa.schema([(name, _type_of(table.c[name])) for name in columns])
    for rows in source.portions(f"SELECT {names(columns)} FROM {table.name}"):
        yield rows.cast(schema)


def _type_of(column: Column[Any]) -> pa.DataType:
    return next(arrow for sql, arrow in _TYPES.items() if isinstance(column.type, sql))


def _count_on(target: ArrowConnection, source: ArrowConnection, column: Column[Any]) -> None:
    """Go on with the numbers where the file would have."""
    table = column.table.name
    last = source.value(
        f"SELECT MAX(n) FROM (SELECT MAX({column.name}) AS n FROM {table} "
        f"UNION ALL SELECT seq FROM sqlite_sequence WHERE name = '{table}')"
    )
    if last:
        target.execute(f"SELECT setval(pg_get_serial_sequence('{table}', '{column.name}'), {last})")

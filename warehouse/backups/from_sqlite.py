"""The backup of an SQLite warehouse, put into PostgreSQL: how a warehouse that outgrows its file moves.

The file is copied, checked and migrated as for a restore into SQLite; then its tables are copied, one after
the other, in one transaction of PostgreSQL.
"""

import tempfile
from pathlib import Path
from typing import Final

import adbc_driver_manager
import pyarrow as pa
from sqlalchemy import BigInteger, LargeBinary, SmallInteger, Text
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
        columns, done = column_names(table), 0
        schema = pa.schema(
            [
                (
                    name,
                    next(own for sql, own in _TYPES.items() if isinstance(table.c[name].type, sql)),
                )
                for name in columns
            ]
        )
        for chunk in source.chunks(f"SELECT {names(columns)} FROM {table.name}"):
            rows = chunk.cast(schema)
            target.append(table.name, rows)
            done += rows.nbytes
            progress(table.name, done, 0)
        target.analyze(table.name)
        for column in table.columns:
            if table.autoincrement_column is column:
                # The sequence goes on with the number that the file would have given next.
                last = source.value(
                    f"SELECT MAX(n) FROM (SELECT MAX({column.name}) AS n FROM {table.name} "
                    f"UNION ALL SELECT seq FROM sqlite_sequence WHERE name = '{table.name}')"
                )
                sequence = f"pg_get_serial_sequence('{table.name}', '{column.name}')"
                if last:
                    target.execute(f"SELECT setval({sequence}, {last})")
    target.commit()

"""What a warehouse takes on disk, by layer, indexes included."""

from typing import Final

from sqlalchemy import Connection, NullPool, create_engine

from warehouse import tables

LAYERS: Final = {
    "raw": (tables.raw_event, tables.raw_order),
    "facts": (*tables.FACTS, *tables.DIMENSIONS),
    "daily rows": tuple(tables.DAILY.values()),
}
# SQLite counts pages by B-tree; an index is one of its own, and names its table in the schema.
_SQLITE: Final = (
    "SELECT SUM(d.pgsize) FROM dbstat d JOIN sqlite_schema s ON s.name = d.name "
    "WHERE d.aggregate = TRUE AND s.tbl_name IN ({})"
)
_POSTGRESQL: Final = (
    "SELECT SUM(pg_total_relation_size(oid)) FROM pg_class WHERE relname IN ({}) AND relkind = 'r'"
)


def measure(url: str) -> dict[str, int]:
    """Bytes of each layer."""
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as connection:
        sql = _SQLITE if engine.dialect.name == "sqlite" else _POSTGRESQL
        return {
            layer: _size(connection, sql, [table.name for table in found])
            for layer, found in LAYERS.items()
        }


def _size(connection: Connection, sql: str, names: list[str]) -> int:
    listed = ", ".join(f"'{name}'" for name in names)
    return int(connection.exec_driver_sql(sql.format(listed)).scalar_one())

"""The space of a warehouse on disk, by layer, indexes included."""

from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import Table

from warehouse import tables
from warehouse.catalogue import SUMMARIES
from warehouse.connections.arrow import open_arrow
from warehouse.connections.engine import backend_of

# Only filtered answers are read from these.
_CROSSED: Final = {each.crossed for each in SUMMARIES}
LAYERS: Final[Mapping[str, Sequence[Table]]] = {
    "raw": (tables.raw_event, tables.raw_order),
    "facts": (*tables.FACTS, *tables.DIMENSIONS),
    "daily rows": [table for name, table in tables.DAILY.items() if name not in _CROSSED],
    "crossings": [table for name, table in tables.DAILY.items() if name in _CROSSED],
}
# SQLite counts pages by B-tree; an index is one of its own, and names its table in the schema.
_SQLITE: Final = (
    "SELECT CAST(SUM(d.pgsize) AS BIGINT) FROM dbstat d JOIN sqlite_schema s ON s.name = d.name "
    "WHERE d.aggregate = TRUE AND s.tbl_name IN ({})"
)
_POSTGRESQL: Final = (
    "SELECT CAST(SUM(pg_total_relation_size(oid)) AS BIGINT) FROM pg_class "
    "WHERE relname IN ({}) AND relkind = 'r'"
)


def measure(url: str) -> dict[str, int]:
    """Bytes of each layer."""
    with open_arrow(url) as connection:
        sql = _SQLITE if backend_of(url).name == "sqlite" else _POSTGRESQL
        return {
            layer: int(
                connection.value(sql.format(", ".join(f"'{table.name}'" for table in found)))
            )
            for layer, found in LAYERS.items()
        }

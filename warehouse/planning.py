"""Statistics for SQLite's planner, written once instead of measured.

Without any, SQLite takes every leading key column for selective and would answer "this visitor of
this edition" by reading the whole edition. That an edition holds very many rows and a full key very
few is known beforehand, so it is told (https://www.sqlite.org/fileformat.html#stat1tab).
"""

import math
from collections.abc import Iterator
from typing import Final

from sqlalchemy import Connection, Table, text

from warehouse.schema import metadata
from warehouse.tables import OWNED

_ROWS: Final = 1_000_000
_FEW: Final = 4


def state_plans(connection: Connection) -> None:
    """Write the statistics of all tables that an edition owns, in place of what is there."""
    connection.execute(text("ANALYZE sqlite_schema"))
    connection.execute(text("DELETE FROM sqlite_stat1"))
    connection.execute(
        text("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (:tbl, :idx, :stat)"),
        [row for table in OWNED for row in _rows(metadata.tables[table.name])],
    )
    connection.execute(text("ANALYZE sqlite_schema"))


def _rows(table: Table) -> Iterator[dict[str, str]]:
    clustered = table.dialect_options["sqlite"]["with_rowid"] is False
    own = table.name if clustered else f"sqlite_autoindex_{table.name}_1"
    yield _row(table, own, len(table.primary_key.columns), unique=True)
    for index in table.indexes:
        yield _row(table, str(index.name), len(index.columns), unique=False)


def _row(table: Table, index: str, columns: int, *, unique: bool) -> dict[str, str]:
    least = 0 if unique else math.log(_FEW)
    shrink = (math.log(_ROWS) - least) / max(columns - 1, 1)
    rows = [round(_ROWS / math.exp(shrink * place)) for place in range(columns)]
    return {"tbl": table.name, "idx": index, "stat": " ".join(map(str, [_ROWS, *rows]))}

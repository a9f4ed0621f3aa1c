"""Statistics for SQLite's planner, written once instead of measured.

Without statistics, SQLite takes every leading key column for selective: it would find a visitor by
reading the visitor's whole edition. An edition always has very many rows, a table has many editions, and a
full key very few rows, so the statistics can be written beforehand
(https://www.sqlite.org/fileformat.html#stat1tab). `noskipscan` keeps it from looking a day up in every form
of every edition.
"""

import math
from collections.abc import Iterator
from typing import Final

from sqlalchemy import Connection, Table, text

from warehouse.tables import OWNED

_EDITIONS: Final = 10
# Rows of an edition.
_ROWS: Final = 1_000_000
_FEW: Final = 4


def write_statistics(connection: Connection) -> None:
    """Replace the statistics by those of the tables that an edition owns."""
    connection.execute(text("ANALYZE sqlite_schema"))
    connection.execute(text("DELETE FROM sqlite_stat1"))
    connection.execute(
        text("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (:tbl, :idx, :stat)"),
        [row for table in OWNED for row in _rows(table)],
    )
    connection.execute(text("ANALYZE sqlite_schema"))


def _rows(table: Table) -> Iterator[dict[str, str]]:
    is_clustered = table.dialect_options["sqlite"]["with_rowid"] is False
    key_index = table.name if is_clustered else f"sqlite_autoindex_{table.name}_1"
    yield _row(table, key_index, len(table.primary_key.columns), unique=True)
    for index in table.indexes:
        yield _row(table, str(index.name), len(index.columns), unique=False)


def _row(table: Table, index: str, columns: int, *, unique: bool) -> dict[str, str]:
    rows_per_key = 0 if unique else math.log(_FEW)
    shrink = (math.log(_ROWS) - rows_per_key) / max(columns - 1, 1)
    rows = [round(_ROWS / math.exp(shrink * column)) for column in range(columns)]
    stat = " ".join(map(str, [_EDITIONS * _ROWS, *rows]))
    return {"tbl": table.name, "idx": index, "stat": f"{stat} noskipscan"}

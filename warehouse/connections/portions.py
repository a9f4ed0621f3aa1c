"""Many rows in portions, each a transaction of its own: no snapshot and no lock is held for long."""

from collections.abc import Iterable, Iterator
from typing import Final

from sqlalchemy import Table

from warehouse.connections.arrow import ArrowConnection, Cell, names
from warehouse.tables.base import key_names, unique_names

# The most rows that one transaction deletes.
MAX_DELETED_ROWS: Final = 50_000


def delete_in_portions(
    connection: ArrowConnection, table: Table, condition: str, *values: Cell
) -> None:
    """Delete the rows that meet a condition (`values`: its parameters), in the order of their key. Commits
    after every portion; a deletion that was interrupted goes on when it is repeated.

    Each portion begins at a key: PostgreSQL would read the deleted rows again, SQLite none.
    """
    key = key_names(table) or unique_names(table)
    place, columns = len(key), names(key)
    own = f"FROM {table.name} WHERE {condition}"
    first = len(values) + 1
    low: list[Cell] = []
    while True:
        since = f" AND ({columns}) >= ({_parameters(first, place)})" if low else ""
        following = connection.table(
            f"SELECT {columns} {own}{since} ORDER BY {columns} LIMIT 1 OFFSET {MAX_DELETED_ROWS}",
            *values,
            *low,
        ).to_pylist()
        # On SQLite, a transaction that has read can no longer write once another one has written.
        connection.commit()
        high: list[Cell] = list(following[0].values()) if following else []
        until = f" AND ({columns}) < ({_parameters(first + len(low), place)})" if high else ""
        connection.execute(f"DELETE {own}{since}{until}", *values, *low, *high)
        connection.commit()
        if not high:
            return
        low = high


def small_together(
    sizes: Iterable[tuple[int, int]], most_rows: int, most: int
) -> Iterator[list[int]]:
    """Numbers of things (`sizes`: with their rows) in groups of at most `most`: small ones together, a large
    one alone."""
    group: list[int] = []
    total = 0
    for number, rows in sizes:
        total += rows
        if group and (total > most_rows or len(group) == most):
            yield group
            group, total = [], rows
        group.append(number)
    if group:
        yield group


def _parameters(first: int, count: int) -> str:
    return ", ".join(f"${number}" for number in range(first, first + count))

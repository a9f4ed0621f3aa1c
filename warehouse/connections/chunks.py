"""Many rows in chunks, each a transaction of its own: no snapshot and no lock is held for long. And things
in chunks that fit into one."""

from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

from sqlalchemy import Table

from warehouse.connections.arrow import ArrowConnection, Cell, names
from warehouse.tables.base import key_names, unique_names

Thing = TypeVar("Thing")

# The most rows that one transaction deletes.
MAX_DELETED_ROWS: Final = 50_000
# The most things of a chunk, however small.
_MAX_TOGETHER: Final = 500


def delete_in_chunks(
    connection: ArrowConnection, table: Table, condition: str, *values: Cell
) -> None:
    """Delete the rows that meet a condition (`values`: its parameters), in the order of their key. Commits
    after every chunk; a deletion that was interrupted goes on when it is repeated.

    Each chunk begins at a key: PostgreSQL would read the deleted rows again, SQLite none.
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


def chunks(
    sized: Iterable[tuple[Thing, int]], most_rows: int, most: int = _MAX_TOGETHER
) -> Iterator[list[Thing]]:
    """Cut things into chunks of at most so many rows and things; a large thing is alone. `sized`: each with
    its rows, or another size."""
    chunk: list[Thing] = []
    total = 0
    for thing, rows in sized:
        total += rows
        if chunk and (total > most_rows or len(chunk) == most):
            yield chunk
            chunk, total = [], rows
        chunk.append(thing)
    if chunk:
        yield chunk


def _parameters(first: int, count: int) -> str:
    return ", ".join(f"${number}" for number in range(first, first + count))

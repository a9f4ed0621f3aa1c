"""Raw rows are inserted, but for those of persons whom their shops have forgotten."""

from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from sqlalchemy import Table

from jobs.importing.kinds.append_only import insert_new
from warehouse.connections.arrow import ArrowConnection, names
from warehouse.editions.pending_batches import sql_list
from warehouse.operations import forgotten
from warehouse.operations.hash_secret import hasher_within
from warehouse.tables.base import unique_names

FORGOTTEN: Final = "forgotten"
"""The further count of the rows that are dropped."""


@dataclass(frozen=True)
class Inserted:
    """The rows that were not dropped; how many of them are new, by batch; how many were dropped."""

    rows: pa.Table
    batches: dict[int, int]
    dropped: int = 0

    @property
    def new(self) -> int:
        return sum(self.batches.values())

    @property
    def counts(self) -> dict[str, int]:
        return {FORGOTTEN: self.dropped} if self.dropped else {}


def insert_wanted(
    connection: ArrowConnection, kind: str, table: Table, rows: pa.Table, import_id: int
) -> Inserted:
    """Insert the rows whose unique key is new, as `insert_new` does, and drop those of forgotten persons."""
    batches = insert_new(connection, kind, table, rows, import_id)
    # With its batch, an import has begun: whoever forgets a person now waits, and whoever did is seen.
    concerned = connection.table(
        f"SELECT shop_key, batch_id FROM import_batch WHERE batch_id IN ({sql_list(batches)}) "
        "AND shop_key IN (SELECT shop_key FROM forgotten)"
    ).to_pylist()
    dropped: set[tuple[int | str, ...]] = set()
    for batch in concerned:
        new = f"batch_id = {batch['batch_id']}"
        keys = _drop(connection, table, batch["shop_key"], new)
        if keys:
            connection.execute(
                f"UPDATE import_batch SET rows = rows - {len(keys)} WHERE {new}",
            )
            batches[batch["batch_id"]] -= len(keys)
        dropped |= keys
    if not dropped:
        return Inserted(rows, batches)
    empty = [number for number, count in batches.items() if not count]
    connection.execute(f"DELETE FROM import_batch WHERE batch_id IN ({sql_list(empty)})")
    key = zip(*(rows[name].to_pylist() for name in unique_names(table)), strict=True)
    kept = rows.filter(pa.array([row not in dropped for row in key]))
    left = {number: count for number, count in batches.items() if count}
    return Inserted(kept, left, rows.num_rows - kept.num_rows)


def _drop(
    connection: ArrowConnection, table: Table, shop_key: int, new: str
) -> set[tuple[int | str, ...]]:
    """Delete the new rows of persons whom their shop has forgotten; returns the keys of these rows."""
    hashes = forgotten.remembered(connection, shop_key)
    found = forgotten.find(connection, hasher_within(connection), table, new, hashes)
    if not found:
        return set()
    forgotten.stage(connection, found.values())
    deleted = connection.table(
        f"DELETE FROM {table.name} WHERE {new} AND {forgotten.carries(table)} "
        f"RETURNING {names(unique_names(table))}"
    )
    return set(zip(*(column.to_pylist() for column in deleted.columns), strict=True))

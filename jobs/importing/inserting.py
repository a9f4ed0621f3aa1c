"""Rows that are added and never replaced: each key once, in a batch that a rollup takes in.

Portions of new rows, which most are, go straight into the table: staging them first would write
everything twice.
"""

from typing import Final

import adbc_driver_manager
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.clock import now_micros
from warehouse.bulk import Bulk, names
from warehouse.columns import Table

# Keys that are looked up to tell whether a portion is new.
_SAMPLE: Final = 64
_RANDOM: Final = np.random.default_rng()

# Shop, batch, rows.
Batches = list[tuple[int, int, int]]


def insert_new(bulk: Bulk, kind: str, table: Table, rows: pa.Table) -> dict[int, int]:
    """Insert the rows whose unique key is not taken yet, in an import batch for each shop.

    `rows` has all columns of the table but `batch_id`. Of rows that share a key the first is taken.
    Returns how many rows are new, by batch; batches without any are gone again. Nothing may have been
    written in the transaction before: it can be begun anew.
    """
    key = list(table.uniques[0].columns)
    # In the order of the key: two imports of the same rows cannot wait for each other in a circle,
    # and an index is filled page after page. The sort is stable, so the first of equals stays first.
    rows = _first_of_each(rows.sort_by([(name, "ascending") for name in key]), key)
    batches = _new_batches(bulk, kind, rows)
    # Most rows are new, and then go straight into the table. A sample tells where they are not; a
    # few that it misses cost a second try.
    if not _some_known(bulk, table, key, rows):
        try:
            bulk.append(table.name, _with_batches(rows, batches))
            return {batch: count for _, batch, count in batches}
        except adbc_driver_manager.DatabaseError:
            bulk.rollback()
            batches = _new_batches(bulk, kind, rows)
    return _insert_unknown(bulk, table, _with_batches(rows, batches), [b for _, b, _ in batches])


def _first_of_each(rows: pa.Table, key: list[str]) -> pa.Table:
    """Sorted rows without those that have the key of the row before them."""
    others = np.zeros(max(rows.num_rows - 1, 0), dtype=bool)
    for name in key:
        column = rows[name].combine_chunks()
        others |= pc.not_equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
    return rows if others.all() else rows.filter(pa.array(np.append(True, others)))


def _new_batches(bulk: Bulk, kind: str, rows: pa.Table) -> Batches:
    shops = rows["shop_key"].value_counts()
    counts = dict(zip(shops.field(0).to_pylist(), shops.field(1).to_pylist(), strict=True))
    listed = ", ".join(f"({shop}, {count})" for shop, count in counts.items())
    made = bulk.table(
        "INSERT INTO import_batch (shop_key, kind, rows, imported_at) "
        f"SELECT column1, $1, column2, $2 FROM (VALUES {listed}) s "
        "RETURNING shop_key, batch_id",
        kind,
        now_micros(),
    ).to_pylist()
    return [(one["shop_key"], one["batch_id"], counts[one["shop_key"]]) for one in made]


def _with_batches(rows: pa.Table, batches: Batches) -> pa.Table:
    shops, numbers = (
        pa.array(column, pa.int64()) for column in list(zip(*batches, strict=True))[:2]
    )
    return rows.append_column("batch_id", numbers.take(pc.index_in(rows["shop_key"], shops)))


def _some_known(bulk: Bulk, table: Table, key: list[str], rows: pa.Table) -> bool:
    """Whether the keys of some rows, picked at random, are in the table."""
    sample = rows.select(key).take(np.sort(_RANDOM.integers(0, rows.num_rows, _SAMPLE)))
    same = " AND ".join(f't."{name}" = s."{name}"' for name in key)
    staged = bulk.stage("import_sample", sample)
    # A subquery for each, and no join, which PostgreSQL would make by reading the whole table.
    known = f"SELECT 1 FROM {table.name} t WHERE {same} LIMIT 1"
    return bool(bulk.value(f"SELECT COUNT(({known})) FROM {staged} s"))


def _insert_unknown(bulk: Bulk, table: Table, rows: pa.Table, batches: list[int]) -> dict[int, int]:
    """Insert what is not taken yet; the batches are counted again."""
    columns = names(rows.column_names)
    staged = bulk.stage(
        "import_row", rows.append_column("place", pa.array(np.arange(rows.num_rows)))
    )
    # SQLite reads a table in the order in which it was filled; saying so would have it sort again.
    ordered = "WHERE true" if bulk.sqlite else "ORDER BY place"
    bulk.execute(
        f"INSERT INTO {table.name} ({columns}) SELECT {columns} FROM {staged} {ordered} "
        "ON CONFLICT DO NOTHING"
    )
    return _count(bulk, table, batches)


def _count(bulk: Bulk, table: Table, batches: list[int]) -> dict[int, int]:
    listed = ", ".join(map(str, batches))
    counted = bulk.table(
        f"SELECT batch_id, COUNT(*) AS rows FROM {table.name} WHERE batch_id IN ({listed}) "
        "GROUP BY batch_id"
    ).to_pylist()
    found = {int(row["batch_id"]): int(row["rows"]) for row in counted}
    bulk.execute(
        f"UPDATE import_batch SET rows = (SELECT COUNT(*) FROM {table.name} t "
        f"WHERE t.batch_id = import_batch.batch_id) WHERE batch_id IN ({listed})"
    )
    bulk.execute(f"DELETE FROM import_batch WHERE batch_id IN ({listed}) AND rows = 0")
    return found

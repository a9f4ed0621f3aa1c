"""Rows that are added and never replaced: each key once, in a batch that a rollup reads.

Most chunks hold only new rows and go straight into the table: staging them first would write
everything twice. Rows of persons whom their shops have forgotten are dropped at once, or, where their orders
stay, are orders without the person.
"""

from dataclasses import dataclass
from typing import Final

import adbc_driver_manager
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Table

from jobs.arrays.group_keys import group_keys, index_of_rows
from jobs.importing.kinds.order_versions import without_person
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection, names
from warehouse.domain.time import now_micros
from warehouse.editions.pending_batches import sql_list
from warehouse.persons import forgotten
from warehouse.persons.forgotten import Identifier
from warehouse.persons.hash_secret import hasher_within
from warehouse.tables.base import column_names, unique_names

FORGOTTEN: Final = "forgotten"
"""The further count of the rows that are dropped."""

# Keys that are looked up to tell whether a chunk is new.
_SAMPLE: Final = 64
_RANDOM: Final = np.random.default_rng()

# Between two entries of a list, in its column: choices of an answer, codes of an order. In memory each is
# like a row.
_BETWEEN_ENTRIES: Final = {"value": '","', "codes": "],["}
# Rows that share one of these stay in one batch: else each batch would read the others' rows again.
_TOGETHER: Final = {"value": "form_session_id", "codes": "order_id"}
# A batch weighs hardly more than this; a chunk of rows without lists does not.
_WEIGHT: Final = 200_000


@dataclass(frozen=True)
class Inserted:
    """The rows that were not dropped, as they are stored; how many of them are new, by batch; how many were
    dropped."""

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
    """Insert the rows whose unique key is new, as `_insert_new` does, and drop those of forgotten persons, or
    take the persons out of them."""
    batches = _insert_new(connection, kind, table, rows, import_id)
    # It keeps its shops since it began: whoever forgets a person now waits, and whoever did is seen.
    concerned = connection.table(
        f"SELECT shop_key, batch_id FROM import_batch WHERE batch_id IN ({sql_list(batches)}) "
        "AND shop_key IN (SELECT shop_key FROM forgotten)"
    ).to_pylist()
    kept, numbers = rows, [batch["batch_id"] for batch in concerned]
    for batch in concerned:
        remembered = forgotten.remembered(connection, batch["shop_key"])
        hasher, new = hasher_within(connection), f"batch_id = {batch['batch_id']}"
        found = forgotten.find(connection, hasher, table, new, set(remembered))
        stay = {hashed for hashed in found if remembered[hashed] and table is tables.raw_order}
        if gone := [person for hashed, person in found.items() if hashed not in stay]:
            taken = _take(connection, table, gone, new)
            kept = kept.filter(~_has_key_of(table, kept, taken))
        if nameless := [found[hashed] for hashed in stay]:
            taken = _take(connection, table, nameless, new)
            own = without_person(taken, nameless, hasher)
            own = own.sort_by([(name, "ascending") for name in unique_names(table)])
            _insert_new_ones(connection, table, own, [batch["batch_id"]], import_id)
            is_own = _has_key_of(table, kept, taken)
            own = without_person(kept.filter(is_own), nameless, hasher)
            # Each in its place.
            order = np.argsort(np.argsort(is_own, kind="stable"))
            kept = pa.concat_tables([kept.filter(~is_own), own]).take(order)
    if kept is not rows:
        batches |= dict.fromkeys(numbers, 0) | _count(connection, table, numbers)
    counts = {number: count for number, count in batches.items() if count}
    return Inserted(kept, counts, rows.num_rows - kept.num_rows)


def _take(
    connection: ArrowConnection, table: Table, persons: list[Identifier], new: str
) -> pa.Table:
    """Delete the new rows of persons; returns them."""
    forgotten.stage(connection, persons)
    return connection.rows_of(
        table,
        f"DELETE FROM {table.name} WHERE {new} AND {forgotten.carries(table)} "
        f"RETURNING {names(column_names(table))}",
    )


def _has_key_of(table: Table, rows: pa.Table, others: pa.Table) -> npt.NDArray[np.bool_]:
    """A mask of the rows that have the unique key of one of the others."""
    own, known = (
        zip(*(some[name].to_pylist() for name in unique_names(table)), strict=True)
        for some in (rows, others)
    )
    keys = set(known)
    return np.array([key in keys for key in own], np.bool_)


def _insert_new(
    connection: ArrowConnection, kind: str, table: Table, rows: pa.Table, import_id: int
) -> dict[int, int]:
    """Insert the rows of an import whose unique key is new, in an import batch for each shop; record that
    it repeated the others.

    `rows` has all columns of the table but `batch_id`. The first of several rows with one key counts.
    Returns the number of new rows by batch; batches without any are deleted. Nothing may have been
    written in the transaction before: it may be rolled back and begun again.
    """
    key = list(unique_names(table))
    # Sorted by key, two imports of the same rows cannot wait for each other in a circle, and an index
    # is filled page after page. The sort is stable: the first of equals stays first.
    rows = rows.sort_by([(name, "ascending") for name in key])
    others = np.zeros(max(rows.num_rows - 1, 0), dtype=bool)
    for name in key:
        column = rows[name].combine_chunks()
        others |= pc.not_equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
    if not others.all():
        rows = rows.filter(pa.array(np.append(True, others)))
    numbered, batches = _in_batches(connection, kind, rows, import_id)
    # Whether the keys of some rows, picked at random, are in the table. A few old rows that the sample misses
    # cost a second try.
    sample = rows.select(key).take(np.sort(_RANDOM.integers(0, rows.num_rows, _SAMPLE)))
    same = " AND ".join(f't."{name}" = s."{name}"' for name in key)
    staged = connection.stage("import_sample", sample)
    # A subquery for each key: for a join PostgreSQL would read the whole table.
    stored = f"SELECT 1 FROM {table.name} t WHERE {same} LIMIT 1"
    if not connection.value(f"SELECT COUNT(({stored})) FROM {staged} s"):
        try:
            connection.append(table.name, numbered)
            return batches
        except adbc_driver_manager.DatabaseError:
            connection.rollback()
            numbered, batches = _in_batches(connection, kind, rows, import_id)
    return _insert_new_ones(connection, table, numbered, list(batches), import_id)


def _in_batches(
    connection: ArrowConnection, kind: str, rows: pa.Table, import_id: int
) -> tuple[pa.Table, dict[int, int]]:
    """The rows with the new batch of each, and the number of rows by batch."""
    # The cost of each row for a rollup in memory, in rows; and a number for the rows of a shop in one batch:
    # there are several where its lists are long.
    lists = next(name for name in _BETWEEN_ENTRIES if name in rows.column_names)
    weights = pc.add(1, pc.count_substring(rows[lists], _BETWEEN_ENTRIES[lists])).to_numpy()
    weights, portions = weights.astype(np.int64), np.zeros(rows.num_rows, np.int64)
    shops = rows["shop_key"].to_numpy()
    if weights.sum() > _WEIGHT:
        dense = group_keys(shops).dense().keys
        units = rows[_TOGETHER[lists]].combine_chunks().dictionary_encode().indices.to_numpy()
        for shop in np.flatnonzero(np.bincount(dense, weights) > _WEIGHT):
            of_shop = np.flatnonzero(dense == shop)
            before = np.cumsum(np.bincount(units[of_shop], weights[of_shop])) // _WEIGHT
            portions[of_shop] = before[units[of_shop]]
    own = pa.table({"shop": shops, "portion": portions, "weight": weights}).group_by(
        ["shop", "portion"]
    )
    sums = own.aggregate([([], "count_all"), ("weight", "sum")]).to_pylist()
    connection.keep_shops(sql_list({one["shop"] for one in sums}))
    listed = ", ".join(f"({one['shop']}, {one['count_all']}, {one['weight_sum']})" for one in sums)
    made = connection.table(
        "INSERT INTO import_batch (shop_key, kind, rows, weight, imported_at, import_id) "
        f"SELECT column1, $1, column2, column3, $2, $3 FROM (VALUES {listed}) s "
        "RETURNING shop_key, rows, weight, batch_id",
        kind,
        now_micros(),
        import_id,
    ).to_pylist()
    # They may come in any order; of those that are equal each may have the rows of any.
    made.sort(key=lambda one: (one["shop_key"], one["rows"], one["weight"]))
    sums.sort(key=lambda one: (one["shop"], one["count_all"], one["weight_sum"]))
    numbers = [one["batch_id"] for one in made]
    index = index_of_rows(
        [np.array([one[name] for one in sums], np.int64) for name in ("shop", "portion")],
        [shops, portions],
    )
    numbered = rows.append_column("batch_id", pa.array(numbers, pa.int64()).take(pa.array(index)))
    return numbered, {one["batch_id"]: one["rows"] for one in made}


def _insert_new_ones(
    connection: ArrowConnection, table: Table, rows: pa.Table, batches: list[int], import_id: int
) -> dict[int, int]:
    """Insert the new rows among these, record the others as repeated, and count the batches again."""
    columns = names(rows.column_names)
    staged = connection.stage(
        "import_row", rows.append_column("place", pa.array(np.arange(rows.num_rows)))
    )
    connection.execute(
        f"INSERT INTO {table.name} ({columns}) SELECT {columns} FROM {staged} "
        f"{connection.ordered_by_place} "
        "ON CONFLICT DO NOTHING"
    )
    # The import repeated those of the staged rows that another one has brought.
    key = unique_names(table)
    same = " AND ".join(f't."{name}" = s."{name}"' for name in key)
    # Subqueries for each key: for a join PostgreSQL would read the whole table.
    brought_by = (
        "(SELECT b.import_id FROM import_batch b WHERE b.batch_id = "
        f"(SELECT t.batch_id FROM {table.name} t WHERE {same}))"
    )
    connection.execute(
        f"INSERT INTO {tables.REPEATED[table].name} ({names(key)}, import_id) "
        f"SELECT {names(key)}, $1 FROM {staged} s WHERE {brought_by} <> $1 ON CONFLICT DO NOTHING",
        import_id,
    )
    return _count(connection, table, batches)


def _count(connection: ArrowConnection, table: Table, batches: list[int]) -> dict[int, int]:
    listed = ", ".join(map(str, batches))
    counted = connection.table(
        f"SELECT batch_id, COUNT(*) AS rows FROM {table.name} WHERE batch_id IN ({listed}) "
        "GROUP BY batch_id"
    ).to_pylist()
    connection.execute(
        f"UPDATE import_batch SET rows = (SELECT COUNT(*) FROM {table.name} t "
        f"WHERE t.batch_id = import_batch.batch_id) WHERE batch_id IN ({listed})"
    )
    connection.execute(f"DELETE FROM import_batch WHERE batch_id IN ({listed}) AND rows = 0")
    return {int(row["batch_id"]): int(row["rows"]) for row in counted}

"""The queue: import batches that an edition has not taken in yet.

What an edition has taken in is `edition.taken_to` (every batch of its shop up to that one) and the
batches above it in `edition_batch`. Batches enter `edition_batch` in the transaction that stores
their figures, so a batch that commits late is simply still missing; `settle` moves `taken_to` up
only over what can no longer have anything missing below it, and so keeps the table small for years.
"""

from collections.abc import Iterable
from typing import Final

import adbc_driver_manager

from warehouse.bulk import Bulk

Batch = dict[str, int]

# Batches that are looked at together: of one edition, and of all.
_OF_ONE: Final = 500
_OF_ALL: Final = 10_000
# An edition's turn: the batches that begin within so many rows.
_TURN_OF: Final = "CAST(SUM(b.rows) OVER earlier - b.rows AS BIGINT) / 20000 AS turn"
# Rows of `edition_batch` from which settling is worth its while.
_MANY: Final = 200

_MISSING: Final = """
FROM edition e JOIN import_batch b ON b.shop_key = e.shop_key AND b.batch_id > e.taken_to
LEFT JOIN failed_batch f ON f.edition = e.edition AND f.batch_id = b.batch_id
WHERE e.edition IN ({editions}) AND NOT EXISTS (SELECT 1 FROM edition_batch d
  WHERE d.edition = e.edition AND d.batch_id = b.batch_id)
"""


def taken_in(edition: int, column: str = "batch_id") -> str:
    """The SQL condition on rows of the edition's shop that says: of a batch that it has taken in."""
    return (
        f"({column} <= (SELECT taken_to FROM edition WHERE edition = {edition}) "
        f"OR {column} IN (SELECT batch_id FROM edition_batch WHERE edition = {edition}))"
    )


def missing(edition: str) -> str:
    """The SQL FROM and WHERE of the batches (`b`) that the editions (`e`) of a list (`1, 2`) or a
    subquery have not taken in; `f` is the failure of such a batch, where it has failed."""
    return _MISSING.format(editions=edition)


WAITING: Final = f"""
SELECT b.shop_key, CAST(SUM(b.rows) AS BIGINT) AS rows, COUNT(*) AS batches,
  MIN(b.imported_at) AS oldest, MAX(b.imported_at) AS newest
{missing("SELECT edition FROM shop")} GROUP BY b.shop_key
UNION ALL
SELECT b.shop_key, CAST(SUM(b.rows) AS BIGINT), COUNT(*), MIN(b.imported_at), MAX(b.imported_at)
FROM shop s JOIN import_batch b ON b.shop_key = s.shop_key WHERE s.edition = 0 GROUP BY b.shop_key
"""
"""By shop, what is not in the edition that answers are read from; of a shop without one, all."""


def untouched(bulk: Bulk, numbers: list[int]) -> list[int]:
    """Those of the editions that have taken in nothing, and so have no facts. Commits."""
    found = bulk.table(
        f"SELECT edition FROM edition e WHERE edition IN ({listed(numbers)}) AND taken_to = 0 "
        "AND NOT EXISTS (SELECT 1 FROM edition_batch b WHERE b.edition = e.edition)"
    )
    bulk.commit()
    return found.column(0).to_pylist()


def pending(bulk: Bulk, numbers: list[int], begun: int, due: int | None = None) -> list[Batch]:
    """The next batches to take in: `edition, shop_key, batch_id, rows, turn`, at most some thousand.

    Editions take turns of some thousand rows: first those whose turn was longest ago, then the second
    turn of each, and so on. So a backlog of one shop never keeps another waiting, and each of many
    small shops is worked on once. Those that have failed since the instant `begun` are left
    out; with `due`, also those whose next try is after it.
    """
    if not numbers:
        return []
    condition, values = "", [begun]
    if due is not None:
        condition, values = "AND f.retry_at <= $2", [begun, due]
    return bulk.table(
        "SELECT edition, shop_key, batch_id, rows, turn FROM (SELECT e.edition, e.shop_key, b.batch_id, "
        f"b.rows, e.rolled_up_at, ROW_NUMBER() OVER earlier AS place, {_TURN_OF} "
        f"{missing(listed(numbers))} AND (f.batch_id IS NULL OR (f.failed_at < $1 {condition})) "
        "WINDOW earlier AS (PARTITION BY e.edition ORDER BY b.batch_id)) q "
        f"WHERE place <= {_OF_ONE} ORDER BY turn, rolled_up_at, edition, batch_id LIMIT {_OF_ALL}",
        *values,
    ).to_pylist()


def waiting_rows(bulk: Bulk, numbers: list[int]) -> int:
    """How many raw rows these editions have not taken in."""
    if not numbers:
        return 0
    sql = f"SELECT CAST(COALESCE(SUM(b.rows), 0) AS BIGINT) {missing(listed(numbers))}"
    return int(bulk.value(sql))


def all_taken_in(bulk: Bulk, edition: int, other: int) -> list[Batch]:
    """The batches that an edition has taken in, as if they were pending for another of its shop."""
    return bulk.table(
        f"SELECT CAST($1 AS BIGINT) AS edition, b.shop_key, b.batch_id, b.rows, {_TURN_OF} "
        "FROM import_batch b WHERE b.shop_key = (SELECT shop_key FROM edition WHERE edition = $1) "
        f"AND {taken_in(edition, 'b.batch_id')} "
        "WINDOW earlier AS (ORDER BY b.batch_id) ORDER BY b.batch_id",
        other,
    ).to_pylist()


def is_ahead(bulk: Bulk, one: int, other: int) -> bool:
    """Whether an edition has taken in a batch of its shop that another one of the shop has not."""
    sql = f"SELECT 1 {missing(str(other))} AND {taken_in(one, 'b.batch_id')}"
    return bulk.value(f"{sql} LIMIT 1") is not None


def open_among(bulk: Bulk, numbers: list[int], set_aside_at: int) -> set[int]:
    """Those of the editions that miss a batch which is not set aside (to be retried at that instant)."""
    found = bulk.table(
        f"SELECT DISTINCT e.edition {missing(listed(numbers))} "
        "AND (f.batch_id IS NULL OR f.retry_at < $1)",
        set_aside_at,
    )
    return set(found.column(0).to_pylist())


def settle(bulk: Bulk, numbers: list[int]) -> None:
    """Move `taken_to` of these editions up as far as it goes, and forget the batches below. Commits.

    To be called by who holds their leases. Nothing happens where it is not worth it, or while an
    import is writing: its batch has a number, and is not to be seen yet.
    """
    worth_it = bulk.table(
        f"SELECT edition FROM edition_batch WHERE edition IN ({listed(numbers)}) "
        f"GROUP BY edition HAVING COUNT(*) >= {_MANY} ORDER BY edition"
    )
    bulk.commit()
    for edition in worth_it.column(0).to_pylist():
        _settle(bulk, edition)


def _settle(bulk: Bulk, edition: int) -> None:
    try:
        if not bulk.sqlite:
            # Who inserts a batch holds the weaker lock until its commit, and takes it before the
            # number. SQLite has one writer at a time: the statement below.
            bulk.execute("LOCK TABLE import_batch IN SHARE MODE NOWAIT")
        bulk.execute(
            "UPDATE edition SET taken_to = COALESCE("
            f"(SELECT MIN(b.batch_id) - 1 {missing(str(edition))}), "
            "(SELECT MAX(m.batch_id) FROM import_batch m WHERE m.shop_key = edition.shop_key), "
            "taken_to) WHERE edition = $1",
            edition,
        )
        bulk.execute(
            "DELETE FROM edition_batch WHERE edition = $1 AND batch_id <= "
            "(SELECT taken_to FROM edition WHERE edition = $1)",
            edition,
        )
        bulk.commit()
    except adbc_driver_manager.ProgrammingError as error:
        bulk.rollback()
        if error.sqlstate != "55P03":  # the lock is not to be had just now
            raise


def listed(numbers: Iterable[int]) -> str:
    """Numbers as an SQL list. Of none, NULL: it is equal to nothing."""
    return ", ".join(map(str, numbers)) or "NULL"

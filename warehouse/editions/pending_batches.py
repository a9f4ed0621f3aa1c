"""The queue: import batches that an edition has not applied yet.

An edition has applied every batch of its shop up to `edition.applied_through`, and the later ones
that `edition_batch` lists. A batch is listed in the transaction that stores its figures, so a batch
that commits late is simply still pending. `compact` advances `applied_through` where nothing can be
pending below it any more, and so keeps the list short for years.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import NEVER

Batch = dict[str, int]


class Backlog(NamedTuple):
    """The sums of the batches of an edition that `pending` would return, were it not cut for others."""

    rows: int
    batches: int


# The most batches that `pending` returns: of one edition, and of all.
_MAX_PER_EDITION: Final = 500
MAX_BATCHES: Final = 50_000
EVERY_BATCH: Final = (0, NEVER)
# The turn of a batch among those of its edition: one turn is the batches that begin within 20,000 rows.
_TURN: Final = "CAST(SUM(b.rows) OVER earlier - b.rows AS BIGINT) / 20000 AS turn"
# The rows of `edition_batch` from which editions are compacted.
_MIN_COMPACTED: Final = 200

_PENDING: Final = """
FROM edition e JOIN import_batch b ON b.shop_key = e.shop_key AND b.batch_id > e.applied_through
LEFT JOIN failed_batch f ON f.edition = e.edition AND f.batch_id = b.batch_id
WHERE e.edition IN ({editions}) AND NOT EXISTS (SELECT 1 FROM edition_batch d
  WHERE d.edition = e.edition AND d.batch_id = b.batch_id)
"""
# A batch may be applied now: it is between $3 and $4, and has not failed, or is to be tried again.
_IS_READY: Final = (
    "b.batch_id BETWEEN $3 AND $4 "
    "AND (f.batch_id IS NULL OR (f.failed_at < $1 AND f.retry_at <= $2))"
)


def is_applied(editions: str, column: str = "batch_id") -> str:
    """The SQL condition that a row is of a batch which one of these editions has applied. `editions`: a
    list (`1, 2`) of at most one edition a shop, or a parameter."""
    return (
        f"{column} IN (SELECT q.batch_id FROM edition e JOIN import_batch q ON q.shop_key = e.shop_key "
        f"WHERE e.edition IN ({editions}) AND (q.batch_id <= e.applied_through OR EXISTS (SELECT 1 "
        "FROM edition_batch a WHERE a.edition = e.edition AND a.batch_id = q.batch_id)))"
    )


def from_pending(editions: str) -> str:
    """The SQL FROM and WHERE of the batches (`b`) that editions (`e`) have not applied; `f` is the
    failure of such a batch, if it failed. `editions`: a list (`1, 2`) or a subquery."""
    return _PENDING.format(editions=editions)


PENDING_BY_SHOP: Final = f"""
SELECT b.shop_key, CAST(SUM(b.rows) AS BIGINT) AS rows, COUNT(*) AS batches,
  MIN(b.imported_at) AS oldest, MAX(b.imported_at) AS newest
{from_pending("SELECT edition FROM shop")} GROUP BY b.shop_key
UNION ALL
SELECT b.shop_key, CAST(SUM(b.rows) AS BIGINT), COUNT(*), MIN(b.imported_at), MAX(b.imported_at)
FROM shop s JOIN import_batch b ON b.shop_key = s.shop_key WHERE s.edition = 0 GROUP BY b.shop_key
"""
"""Per shop, the batches that the edition of its answers lacks; all batches of a shop without one."""

OLDEST_PENDING: Final = f"SELECT MIN(b.imported_at) {from_pending(':edition')}"
"""When the oldest batch was imported that an edition lacks; NULL if it has every batch of its shop."""


def pending(
    connection: ArrowConnection,
    numbers: list[int],
    started_at: int,
    due: int | None = None,
    between: tuple[int, int] = EVERY_BATCH,
) -> list[Batch]:
    """The next batches to apply, some thousand at most: `edition, shop_key, batch_id, rows, turn`.

    Editions take turns of 20,000 rows, the one that was rolled up longest ago first. So the backlog
    of one shop never delays another, and each of many small shops is worked on once. Batches that
    have failed since `started_at` are left out; with `due`, those whose `retry_at` is later are, too.
    `between`: the first and the last batch that are asked for.
    """
    if not numbers:
        return []
    return connection.table(
        "SELECT edition, shop_key, batch_id, rows, turn FROM (SELECT e.edition, e.shop_key, "
        "b.batch_id, b.rows, e.rolled_up_at, ROW_NUMBER() OVER earlier AS position, "
        f"{_TURN} {from_pending(sql_list(numbers))} AND {_IS_READY} "
        "WINDOW earlier AS (PARTITION BY e.edition ORDER BY b.batch_id)) q "
        f"WHERE position <= {_MAX_PER_EDITION} "
        f"ORDER BY turn, rolled_up_at, edition, batch_id LIMIT {MAX_BATCHES}",
        started_at,
        NEVER if due is None else due,
        *between,
    ).to_pylist()


def not_applied(
    connection: ArrowConnection, numbers: Iterable[int], first: int, last: int
) -> list[int]:
    """The batches from the first to the last that these editions have not applied."""
    rows = connection.table(
        f"SELECT b.batch_id {from_pending(sql_list(numbers))} AND b.batch_id BETWEEN $1 AND $2",
        first,
        last,
    )
    batches: list[int] = rows.column(0).to_pylist()
    return batches


def pending_rows(connection: ArrowConnection, numbers: list[int]) -> int:
    """How many raw rows these editions have not applied."""
    if not numbers:
        return 0
    sql = f"SELECT CAST(COALESCE(SUM(b.rows), 0) AS BIGINT) {from_pending(sql_list(numbers))}"
    return int(connection.value(sql))


def backlogs(
    connection: ArrowConnection,
    numbers: list[int],
    started_at: int,
    due: int | None = None,
    between: tuple[int, int] = EVERY_BATCH,
) -> dict[int, Backlog]:
    """The work that each of these editions has to do, in the order of `pending`; those without any batch are
    left out."""
    if not numbers:
        return {}
    rows = connection.table(
        "SELECT e.edition, CAST(SUM(b.rows) AS BIGINT) AS rows, COUNT(*) AS batches "
        f"{from_pending(sql_list(numbers))} AND {_IS_READY} "
        "GROUP BY e.edition, e.rolled_up_at ORDER BY e.rolled_up_at, e.edition",
        started_at,
        NEVER if due is None else due,
        *between,
    ).to_pylist()
    return {
        row["edition"]: Backlog(row["rows"], min(row["batches"], _MAX_PER_EDITION)) for row in rows
    }


def applied_batches(connection: ArrowConnection, edition: int, other: int) -> list[Batch]:
    """The batches that an edition has applied, as if they were pending for another of its shop."""
    return connection.table(
        f"SELECT CAST($1 AS BIGINT) AS edition, b.shop_key, b.batch_id, b.rows, {_TURN} "
        "FROM import_batch b WHERE b.shop_key = (SELECT shop_key FROM edition WHERE edition = $1) "
        f"AND {is_applied(str(edition), 'b.batch_id')} "
        "WINDOW earlier AS (ORDER BY b.batch_id) ORDER BY b.batch_id",
        other,
    ).to_pylist()


def behind(connection: ArrowConnection, numbers: list[int]) -> set[int]:
    """Those of the editions that lack a batch which the one that answers are read from has applied."""
    rows = connection.table(
        f"SELECT DISTINCT e.edition {from_pending(sql_list(numbers))} AND EXISTS ("
        "SELECT 1 FROM shop s JOIN edition c ON c.edition = s.edition "
        "WHERE s.shop_key = e.shop_key AND (b.batch_id <= c.applied_through OR EXISTS ("
        "SELECT 1 FROM edition_batch a WHERE a.edition = c.edition AND a.batch_id = b.batch_id)))"
    )
    return set(rows.column(0).to_pylist())


def incomplete(connection: ArrowConnection, numbers: list[int]) -> set[int]:
    """Those of the editions that lack a batch which is not set aside."""
    rows = connection.table(
        f"SELECT DISTINCT e.edition {from_pending(sql_list(numbers))} "
        "AND (f.batch_id IS NULL OR f.retry_at < $1)",
        NEVER,
    )
    return set(rows.column(0).to_pylist())


def compact(connection: ArrowConnection, numbers: list[int]) -> None:
    """Advance `applied_through` of these editions, and delete the lists below it. Commits.

    The caller holds their leases. Nothing happens while the lists are short, or while an import is
    writing: its batch has a number already, and cannot be seen yet.
    """
    editions = sql_list(numbers)
    listed = f"SELECT edition FROM edition_batch WHERE edition IN ({editions})"
    is_long = connection.value(f"{listed} LIMIT 1 OFFSET {_MIN_COMPACTED - 1}") is not None
    connection.commit()
    # An import takes its lock on the table before it takes a number for its batch.
    if not is_long or not connection.lock_against_inserts("import_batch"):
        return
    connection.execute(
        "UPDATE edition SET applied_through = COALESCE("
        f"(SELECT MIN(b.batch_id) - 1 {from_pending('edition.edition')}), "
        "(SELECT MAX(m.batch_id) FROM import_batch m WHERE m.shop_key = edition.shop_key), "
        f"applied_through) WHERE edition IN ({listed})"
    )
    connection.execute(
        f"DELETE FROM edition_batch WHERE edition IN ({editions}) AND batch_id <= "
        "(SELECT e.applied_through FROM edition e WHERE e.edition = edition_batch.edition)"
    )
    connection.commit()


def sql_list(numbers: Iterable[int]) -> str:
    """Numbers as an SQL list. An empty one is NULL, which equals nothing."""
    return ", ".join(map(str, numbers)) or "NULL"

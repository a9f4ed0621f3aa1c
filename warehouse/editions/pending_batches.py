"""The queue: import batches that an edition has not applied yet.

An edition has applied every batch of its shop up to `edition.applied_through`, and the later ones
that `edition_batch` lists with no failed attempt. A batch is listed in the transaction that stores its
figures, so a batch that commits late is simply still pending. One that has failed is listed with its
attempts until it is applied (`failed_batches.py`), also below `applied_through`. `compact` advances
`applied_through` where nothing else can be pending below it any more, and so keeps the list short for years.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import NEVER

Batch = dict[str, int]


class Backlog(NamedTuple):
    """The sums of the batches that an edition lacks: of all that `pending` returns, and of those that it
    leaves for a later call."""

    rows: int
    batches: int


# The most batches that `pending` returns.
MAX_BATCHES: Final = 10_000
# The cost of a batch in memory, in rows.
_WEIGHT: Final = "(CASE WHEN p.weight > p.rows THEN p.weight ELSE p.rows END)"
# The rows of `edition_batch` from which editions are compacted.
_MIN_COMPACTED: Final = 200

_PENDING: Final = """
FROM (
  SELECT e.edition, e.rolled_up_at, b.shop_key, b.batch_id, b.rows, b.weight, b.imported_at,
    0 AS attempts, 0 AS failed_at, 0 AS retry_at
  FROM edition e JOIN import_batch b ON b.shop_key = e.shop_key AND b.batch_id > e.applied_through
  WHERE e.edition IN ({editions}) AND NOT EXISTS
    (SELECT 1 FROM edition_batch a WHERE a.edition = e.edition AND a.batch_id = b.batch_id)
  UNION ALL
  SELECT e.edition, e.rolled_up_at, b.shop_key, b.batch_id, b.rows, b.weight, b.imported_at,
    f.attempts, f.failed_at, f.retry_at
  FROM edition_batch f JOIN edition e ON e.edition = f.edition
  JOIN import_batch b ON b.batch_id = f.batch_id
  WHERE f.edition IN ({editions}) AND f.attempts > 0
) p
"""
# A batch may be applied now: it has not failed, or is to be tried again.
_IS_READY: Final = "(p.attempts = 0 OR (p.failed_at < $1 AND p.retry_at <= $2))"


def has_applied(edition: str, batch: str) -> str:
    """The SQL condition that an edition has applied a batch. `edition`: the name of a row of `edition`
    (`e`); `batch`: a column (`b.batch_id`)."""
    return (
        f"CASE WHEN {batch} <= {edition}.applied_through THEN ({edition}.edition, {batch}) NOT IN "
        "(SELECT x.edition, x.batch_id FROM edition_batch x WHERE x.attempts > 0) "
        f"ELSE EXISTS (SELECT 1 FROM edition_batch a WHERE a.edition = {edition}.edition "
        f"AND a.batch_id = {batch} AND a.attempts = 0) END"
    )


def is_applied(editions: str, column: str = "batch_id") -> str:
    """The SQL condition that a row is of a batch which one of these editions has applied. `editions`: a
    list (`1, 2`) of at most one edition a shop, or a parameter."""
    return (
        f"{column} IN (SELECT q.batch_id FROM edition e JOIN import_batch q ON q.shop_key = e.shop_key "
        f"WHERE e.edition IN ({editions}) AND {has_applied('e', 'q.batch_id')})"
    )


def from_pending(editions: str) -> str:
    """The SQL FROM of the batches that editions have not applied, as `p`: the columns of `edition_batch`
    (0 for a batch that was not tried), and `shop_key`, `rows`, `imported_at` and `rolled_up_at`.
    `editions`: a list (`1, 2`), a subquery or a parameter."""
    return _PENDING.format(editions=editions)


def from_waiting(shops: str = "1 = 1") -> str:
    """The SQL FROM of the batches that the editions of answers lack, as `p`: `shop_key, rows, imported_at,
    retry_at`; all batches of a shop without an edition. `shops`: a condition on rows of `shop` (`s`)."""
    return f"""
FROM (
  SELECT p.shop_key, p.rows, p.imported_at, p.retry_at
  {from_pending(f"SELECT s.edition FROM shop s WHERE {shops}")}
  UNION ALL
  SELECT b.shop_key, b.rows, b.imported_at, 0
  FROM shop s JOIN import_batch b ON b.shop_key = s.shop_key WHERE s.edition = 0 AND {shops}
) p"""


WAITING_BY_SHOP: Final = (
    "SELECT p.shop_key, CAST(SUM(p.rows) AS BIGINT) AS rows, COUNT(*) AS batches, "
    f"MIN(p.imported_at) AS oldest, MAX(p.imported_at) AS newest {from_waiting()} GROUP BY p.shop_key"
)
"""The waiting batches and rows of each shop."""


def pending(
    connection: ArrowConnection,
    numbers: list[int],
    started_at: int,
    due: int | None = None,
) -> list[Batch]:
    """The next batches to apply, some thousand at most: `edition, shop_key, batch_id, rows, weight,
    attempts`. Those of the edition come first that was rolled up longest ago.

    Batches that have failed since `started_at` are left out; with `due`, those whose `retry_at` is later
    are, too.
    """
    if not numbers:
        return []
    return connection.table(
        f"SELECT p.edition, p.shop_key, p.batch_id, p.rows, {_WEIGHT} AS weight, p.attempts "
        f"{from_pending(sql_list(numbers))} WHERE {_IS_READY} "
        f"ORDER BY p.rolled_up_at, p.edition, p.batch_id LIMIT {MAX_BATCHES}",
        started_at,
        NEVER if due is None else due,
    ).to_pylist()


def pending_rows(connection: ArrowConnection, numbers: list[int]) -> int:
    """The number of raw rows that these editions have not applied."""
    if not numbers:
        return 0
    sql = f"SELECT CAST(COALESCE(SUM(p.rows), 0) AS BIGINT) {from_pending(sql_list(numbers))}"
    return int(connection.value(sql))


def backlogs(
    connection: ArrowConnection,
    numbers: list[int],
    started_at: int,
    due: int | None = None,
) -> dict[int, Backlog]:
    """The work that each of these editions has to do, in the order of `pending`; those without any batch are
    left out."""
    if not numbers:
        return {}
    rows = connection.table(
        "SELECT p.edition, CAST(SUM(p.rows) AS BIGINT) AS rows, COUNT(*) AS batches "
        f"{from_pending(sql_list(numbers))} WHERE {_IS_READY} "
        "GROUP BY p.edition, p.rolled_up_at ORDER BY p.rolled_up_at, p.edition",
        started_at,
        NEVER if due is None else due,
    ).to_pylist()
    return {row["edition"]: Backlog(row["rows"], min(row["batches"], MAX_BATCHES)) for row in rows}


def applied_batches(connection: ArrowConnection, others: Mapping[int, int]) -> list[Batch]:
    """The batches that editions have applied, as if they were pending for others of their shops (`others`: by
    number)."""
    batches = connection.table(
        f"SELECT e.edition, p.shop_key, p.batch_id, p.rows, {_WEIGHT} AS weight, 0 AS attempts "
        "FROM import_batch p JOIN edition e ON e.shop_key = p.shop_key "
        f"WHERE e.edition IN ({sql_list(others)}) AND {has_applied('e', 'p.batch_id')} "
        "ORDER BY e.edition, p.batch_id"
    ).to_pylist()
    return [batch | {"edition": others[batch["edition"]]} for batch in batches]


def behind(connection: ArrowConnection, numbers: list[int]) -> set[int]:
    """The editions among these that lack a batch which the one that answers are read from has applied."""
    rows = connection.table(
        f"SELECT DISTINCT p.edition {from_pending(sql_list(numbers))} "
        "JOIN shop s ON s.shop_key = p.shop_key JOIN edition c ON c.edition = s.edition "
        f"WHERE {has_applied('c', 'p.batch_id')}"
    )
    return set(rows.column(0).to_pylist())


def incomplete(connection: ArrowConnection, numbers: list[int]) -> set[int]:
    """The editions among these that lack a batch which is not set aside."""
    rows = connection.table(
        f"SELECT DISTINCT p.edition {from_pending(sql_list(numbers))} WHERE p.retry_at < $1",
        NEVER,
    )
    return set(rows.column(0).to_pylist())


def compact(connection: ArrowConnection, numbers: list[int]) -> None:
    """Advance `applied_through` of these editions, and delete the lists below it. Commits.

    The caller holds their leases. Nothing happens while the lists are short, nor to a shop of which an
    import is writing rows: its batch has a number already, and cannot be seen yet.
    """
    editions = sql_list(numbers)
    listed = f"SELECT edition FROM edition_batch WHERE edition IN ({editions}) AND attempts = 0"
    is_long = connection.value(f"{listed} LIMIT 1 OFFSET {_MIN_COMPACTED - 1}") is not None
    connection.commit()
    if not is_long:
        return
    quiet = connection.lock_quiet_shops(
        f"SELECT shop_key FROM edition WHERE edition IN ({editions})"
    )
    editions = (
        f"SELECT edition FROM edition WHERE edition IN ({editions}) AND shop_key IN ({quiet})"
    )
    listed = f"SELECT edition FROM edition_batch WHERE edition IN ({editions}) AND attempts = 0"
    connection.execute(
        "UPDATE edition SET applied_through = COALESCE("
        f"(SELECT MIN(p.batch_id) - 1 {from_pending('edition.edition')} WHERE p.attempts = 0), "
        "(SELECT MAX(m.batch_id) FROM import_batch m WHERE m.shop_key = edition.shop_key), "
        f"applied_through) WHERE edition IN ({listed})"
    )
    connection.execute(
        f"DELETE FROM edition_batch WHERE edition IN ({editions}) AND attempts = 0 AND batch_id <= "
        "(SELECT e.applied_through FROM edition e WHERE e.edition = edition_batch.edition)"
    )
    connection.commit()


def sql_list(numbers: Iterable[int]) -> str:
    """Numbers as an SQL list. An empty one is NULL, which equals nothing."""
    return ", ".join(map(str, numbers)) or "NULL"

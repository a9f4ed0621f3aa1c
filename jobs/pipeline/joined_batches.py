"""Small batches whose imports are forgotten are joined: a collector brings a shop thousands a day.

Only those are that every edition of their shop has applied for good: for these editions nothing changes. The
newest batch of a kind stays as it is, since pages name it.
"""

from functools import partial
from typing import Final

from jobs.pipeline import plan
from jobs.pipeline.removal import keep_editions
from jobs.run.job_run import JobRun, phase
from warehouse.connections.chunks import chunks
from warehouse.domain.vocabulary import KEPT_FACTS
from warehouse.editions.leases import Claim
from warehouse.editions.pending_batches import sql_list

# A batch of fewer rows, and of less weight, is small; those of as many together are joined.
_SMALL_ROWS: Final = 5_000
_JOINED_ROWS: Final = 20_000

_JOINABLE: Final = f"""
FROM import_batch b JOIN shop s ON s.shop_key = b.shop_key
WHERE b.rows + b.purged < {_SMALL_ROWS} AND b.weight < {_SMALL_ROWS} AND b.kind <> '{KEPT_FACTS}'
  AND b.import_id NOT IN (SELECT import_id FROM import_file)
  AND b.batch_id <= (SELECT MIN(e.applied_through) FROM edition e WHERE e.shop_key = b.shop_key)
  AND b.batch_id NOT IN (SELECT f.batch_id FROM edition_batch f WHERE f.attempts > 0)
  AND b.batch_id < (SELECT MAX(n.batch_id) FROM import_batch n
    WHERE n.shop_key = b.shop_key AND n.kind = b.kind)
"""


def join_batches(run: JobRun) -> None:
    """Join what can be joined, a group of batches of a shop and kind in each transaction. Commits. Raises
    Stopped after a signal."""
    phase("join")
    shops = run.connection.table(
        f"SELECT DISTINCT q.shop_key FROM (SELECT b.shop_key, b.kind {_JOINABLE} "
        "GROUP BY b.shop_key, b.kind HAVING COUNT(*) > 1) q ORDER BY q.shop_key"
    )["shop_key"].to_pylist()
    run.connection.commit()
    for shop_key in shops:
        plan.while_shops_held(run, [shop_key], partial(_join, run))


def _join(run: JobRun, held: Claim, shops: list[int]) -> None:
    while _join_some(run, held, shops):
        run.raise_if_stopped()


def _join_some(run: JobRun, held: Claim, shops: list[int]) -> bool:
    """Join the first group; whether there was one. Commits. Raises LeaseLost, with nothing written, if a
    lease was lost or the shop has another edition now."""
    connection = run.connection
    keep_editions(connection, held, shops)
    found = connection.table(
        "SELECT b.kind, b.batch_id, CASE WHEN b.weight > b.rows THEN b.weight ELSE b.rows END AS size "
        f"{_JOINABLE} AND b.shop_key IN ({sql_list(shops)}) "
        "ORDER BY b.kind, b.batch_id"
    ).to_pylist()
    for kind in {batch["kind"]: None for batch in found}:
        sizes = ((one["batch_id"], one["size"]) for one in found if one["kind"] == kind)
        for group in chunks(sizes, _JOINED_ROWS):
            if len(group) > 1:
                first, others = group[0], sql_list(group[1:])
                for table in ("raw_event", "raw_order"):
                    connection.execute(
                        f"UPDATE {table} SET batch_id = {first} WHERE batch_id IN ({others})"
                    )
                connection.execute(
                    "UPDATE import_batch SET "
                    "(rows, purged, weight) = "
                    "(SELECT SUM(rows), SUM(purged), SUM(weight) FROM import_batch b "
                    f"WHERE b.batch_id IN ({sql_list(group)})) WHERE batch_id = {first}"
                )
                connection.execute(f"DELETE FROM import_batch WHERE batch_id IN ({others})")
                connection.commit()
                return True
    connection.commit()
    return False

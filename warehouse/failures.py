"""Batches that could not be taken in: how often they were tried, when they are tried next.

The delay doubles with each try. After so many tries a batch is set aside (`retry_at` is NEVER): the
schedule's refreshes leave it alone, `status` and `/readyz` name it, a rollup by hand and the nightly
one try it again.
"""

from typing import Any, Final

from warehouse.bulk import Bulk
from warehouse.days import MICROS_PER_SECOND, NEVER
from warehouse.queue import Batch, listed

_FIRST_DELAY: Final = 300 * MICROS_PER_SECOND
_LONGEST_DELAY: Final = 24 * 3600 * MICROS_PER_SECOND
_LONGEST_ERROR: Final = 500


def note(bulk: Bulk, batch: Batch, error: str, now: int, most: int) -> bool:
    """Note that a batch has failed at `now`; whether it is set aside, for it was tried `most` times
    or more. Commits."""
    tries = bulk.value(
        "INSERT INTO failed_batch (edition, batch_id, tries, failed_at, error) "
        "VALUES ($1, $2, 1, $3, $4) ON CONFLICT (edition, batch_id) DO UPDATE SET "
        "tries = failed_batch.tries + 1, failed_at = excluded.failed_at, error = excluded.error "
        "RETURNING tries",
        batch["edition"],
        batch["batch_id"],
        now,
        error[:_LONGEST_ERROR],
    )
    aside = int(tries) >= most
    delay = min(_FIRST_DELAY << min(int(tries) - 1, 20), _LONGEST_DELAY)
    bulk.execute(
        "UPDATE failed_batch SET retry_at = $1 WHERE edition = $2 AND batch_id = $3",
        NEVER if aside else now + delay,
        batch["edition"],
        batch["batch_id"],
    )
    bulk.commit()
    return aside


def clear(bulk: Bulk, editions: list[int]) -> None:
    """Forget that batches ever failed which these editions have taken in; part of the transaction
    that takes them in."""
    bulk.execute(
        f"DELETE FROM failed_batch WHERE edition IN ({listed(editions)}) AND EXISTS ("
        "SELECT 1 FROM edition_batch d WHERE d.edition = failed_batch.edition "
        "AND d.batch_id = failed_batch.batch_id)"
    )


def failing(bulk: Bulk) -> list[dict[str, Any]]:
    """The batches that have failed and are not taken in, those set aside (`retry_at` NEVER) last:
    `shop_id, state` (of the edition)`, batch_id, kind, rows, tries, failed_at, retry_at, error`."""
    return bulk.table(
        "SELECT s.shop_id, e.state, b.batch_id, b.kind, b.rows, f.tries, f.failed_at, f.retry_at, "
        "f.error FROM failed_batch f JOIN edition e ON e.edition = f.edition "
        "JOIN shop s ON s.shop_key = e.shop_key JOIN import_batch b ON b.batch_id = f.batch_id "
        "ORDER BY f.retry_at, s.shop_id, b.batch_id"
    ).to_pylist()

"""Batches that failed: how many attempts there were, and when the next one is due.

The schedule's refreshes wait between two attempts, each time twice as long, up to a day. After the last
attempt a batch is set aside (`retry_at` is NEVER): refreshes skip it, `status` and `/readyz` report it.
The nightly rollup and one by hand wait for nothing: they try every failed batch, also those set aside.
"""

from typing import Any, Final

from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import MICROS_PER_SECOND, NEVER
from warehouse.editions.pending_batches import Batch, sql_list

_FIRST_DELAY: Final = 300 * MICROS_PER_SECOND
_MAX_DELAY: Final = 24 * 3600 * MICROS_PER_SECOND
_MAX_ERROR_LENGTH: Final = 500


def record(
    connection: ArrowConnection, batch: Batch, error: str, now: int, max_attempts: int
) -> bool:
    """Record that a batch failed at `now`. Returns whether it is set aside, after `max_attempts`.
    Commits."""
    attempts = int(
        connection.value(
            "INSERT INTO failed_batch (edition, batch_id, attempts, failed_at, error) "
            "VALUES ($1, $2, 1, $3, $4) ON CONFLICT (edition, batch_id) DO UPDATE SET "
            "attempts = failed_batch.attempts + 1, failed_at = excluded.failed_at, "
            "error = excluded.error RETURNING attempts",
            batch["edition"],
            batch["batch_id"],
            now,
            error[:_MAX_ERROR_LENGTH],
        )
    )
    is_set_aside = attempts >= max_attempts
    delay = min(_FIRST_DELAY * 2 ** (attempts - 1), _MAX_DELAY)
    connection.execute(
        "UPDATE failed_batch SET retry_at = $1 WHERE edition = $2 AND batch_id = $3",
        NEVER if is_set_aside else now + delay,
        batch["edition"],
        batch["batch_id"],
    )
    connection.commit()
    return is_set_aside


def delete_applied(connection: ArrowConnection, editions: list[int]) -> None:
    """Delete the failures of batches that these editions have applied by now, in the transaction
    that applies them."""
    connection.execute(
        f"DELETE FROM failed_batch WHERE edition IN ({sql_list(editions)}) AND EXISTS ("
        "SELECT 1 FROM edition_batch d WHERE d.edition = failed_batch.edition "
        "AND d.batch_id = failed_batch.batch_id)"
    )


def list_failed(connection: ArrowConnection) -> list[dict[str, Any]]:
    """The batches that failed and are not applied, those set aside (`retry_at` NEVER) last.

    Columns: `shop_id`, `state` (of the edition), `batch_id`, `kind`, `rows`, `attempts`, `failed_at`,
    `retry_at`, `error`.
    """
    return connection.table(
        "SELECT s.shop_id, e.state, b.batch_id, b.kind, b.rows, f.attempts, f.failed_at, f.retry_at, "
        "f.error FROM failed_batch f JOIN edition e ON e.edition = f.edition "
        "JOIN shop s ON s.shop_key = e.shop_key JOIN import_batch b ON b.batch_id = f.batch_id "
        "ORDER BY f.retry_at, s.shop_id, b.batch_id"
    ).to_pylist()

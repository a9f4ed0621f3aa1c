"""Batches that failed: how many attempts there were, and when the next one is due.

They are rows of `edition_batch` with attempts. Only the holder of the edition's lease writes there, in a
transaction that begins with its fence: whoever held it before may find the batch applied by another.

The schedule's refreshes wait between two attempts, each time twice as long, up to a day. After the last
attempt a batch is set aside (`retry_at` is NEVER): refreshes skip it, `status` and `/readyz` report it.
The nightly rollup and one by hand wait for nothing: they try every failed batch, also those set aside.
"""

from collections import Counter
from typing import Any, Final

from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import MICROS_PER_SECOND, NEVER
from warehouse.editions.pending_batches import Batch, sql_list

_FIRST_DELAY: Final = 300 * MICROS_PER_SECOND
_MAX_DELAY: Final = 24 * 3600 * MICROS_PER_SECOND
_MAX_ERROR_LENGTH: Final = 500


FROM_SET_ASIDE: Final = (
    "FROM edition_batch f JOIN edition e ON e.edition = f.edition "
    f"JOIN shop s ON s.shop_key = e.shop_key WHERE f.attempts > 0 AND f.retry_at = {NEVER}"
)
"""The SQL FROM and WHERE of the batches (`f`) that are set aside, their editions (`e`) and shops (`s`)."""


def record(
    connection: ArrowConnection, batch: Batch, error: str, now: int, max_attempts: int
) -> None:
    """Record that a batch failed at `now`, or that an attempt begins which may end the process; it is set
    aside after `max_attempts`. Commits."""
    attempts = int(
        connection.value(
            "INSERT INTO edition_batch (edition, batch_id, attempts, failed_at, error) "
            "VALUES ($1, $2, 1, $3, $4) ON CONFLICT (edition, batch_id) DO UPDATE SET "
            "attempts = edition_batch.attempts + 1, failed_at = excluded.failed_at, "
            "error = excluded.error RETURNING attempts",
            batch["edition"],
            batch["batch_id"],
            now,
            error[:_MAX_ERROR_LENGTH],
        )
    )
    delay = min(_FIRST_DELAY * 2 ** (attempts - 1), _MAX_DELAY)
    connection.execute(
        "UPDATE edition_batch SET retry_at = $1 WHERE edition = $2 AND batch_id = $3",
        NEVER if attempts >= max_attempts else now + delay,
        batch["edition"],
        batch["batch_id"],
    )
    connection.commit()


def name_error(connection: ArrowConnection, batch: Batch, error: str) -> None:
    """Record why the attempt that was recorded as it began has failed. Commits."""
    connection.execute(
        "UPDATE edition_batch SET error = $3 WHERE edition = $1 AND batch_id = $2 AND attempts > 0",
        batch["edition"],
        batch["batch_id"],
        error[:_MAX_ERROR_LENGTH],
    )
    connection.commit()


def take_back(connection: ArrowConnection, batch: Batch) -> None:
    """Forget an attempt that was recorded as it began, and ended through no fault of the batch. Commits."""
    which = "WHERE edition = $1 AND batch_id = $2 AND attempts"
    key = batch["edition"], batch["batch_id"]
    connection.execute(f"DELETE FROM edition_batch {which} = 1", *key)
    connection.execute(
        f"UPDATE edition_batch SET attempts = attempts - 1, failed_at = 0, retry_at = 0 {which} > 1",
        *key,
    )
    connection.commit()


def delete(connection: ArrowConnection, batches: list[Batch]) -> None:
    """Delete the failures of batches, in the transaction that applies them."""
    for edition in {batch["edition"] for batch in batches}:
        own = sql_list(batch["batch_id"] for batch in batches if batch["edition"] == edition)
        connection.execute(
            f"DELETE FROM edition_batch WHERE edition = $1 AND attempts > 0 AND batch_id IN ({own})",
            edition,
        )


def failed_since(connection: ArrowConnection, numbers: list[int], since: int) -> Counter[int]:
    """How many batches of each of these editions have failed since then and are not applied. Commits."""
    rows = connection.table(
        "SELECT edition, COUNT(*) AS batches FROM edition_batch WHERE attempts > 0 AND failed_at >= $1 "
        f"AND edition IN ({sql_list(numbers)}) GROUP BY edition",
        since,
    ).to_pylist()
    connection.commit()
    return Counter({row["edition"]: row["batches"] for row in rows})


def list_failed(connection: ArrowConnection) -> list[dict[str, Any]]:
    """The batches that failed and are not applied, those set aside (`retry_at` NEVER) last.

    Columns: `shop_id`, `state` (of the edition), `batch_id`, `kind`, `rows`, `attempts`, `failed_at`,
    `retry_at`, `error`.
    """
    return connection.table(
        "SELECT s.shop_id, e.state, b.batch_id, b.kind, b.rows, f.attempts, f.failed_at, f.retry_at, "
        "f.error FROM edition_batch f JOIN edition e ON e.edition = f.edition "
        "JOIN shop s ON s.shop_key = e.shop_key JOIN import_batch b ON b.batch_id = f.batch_id "
        "WHERE f.attempts > 0 ORDER BY f.retry_at, s.shop_id, b.batch_id"
    ).to_pylist()

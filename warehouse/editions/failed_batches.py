"""Batches that failed: how many attempts there were, and when the next one is due.

They are rows of `edition_batch` with attempts. Only the holder of the edition's lease writes there, in a
transaction that begins with its fence: whoever held it before may find the batch applied by another.

The schedule's refreshes wait between two attempts, each time twice as long, up to a day. After the last
attempt a batch is set aside (`retry_at` is NEVER): refreshes skip it, `status` and `/readyz` report it.
The nightly rollup and one by hand wait for nothing: they try every failed batch, also those set aside.
"""

from collections.abc import Iterable
from typing import Any, Final

from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import MICROS_PER_SECOND, NEVER
from warehouse.editions.pending_batches import Batch, sql_list

_FIRST_DELAY: Final = 300 * MICROS_PER_SECOND
_MAX_DELAY: Final = 24 * 3600 * MICROS_PER_SECOND
_MAX_ERROR_LENGTH: Final = 500
# The error of an attempt before it has ended.
_NOT_ENDED: Final = "its process died before it was done"

_FAILED: Final = (
    "s.shop_id, e.state, b.batch_id, b.kind, b.rows, f.attempts, f.failed_at, f.retry_at, f.error "
    "FROM edition_batch f JOIN edition e ON e.edition = f.edition JOIN shop s ON s.shop_key = e.shop_key "
    "JOIN import_batch b ON b.batch_id = f.batch_id WHERE f.attempts > 0"
)


FROM_SET_ASIDE: Final = (
    "FROM edition_batch f JOIN edition e ON e.edition = f.edition "
    f"JOIN shop s ON s.shop_key = e.shop_key WHERE f.attempts > 0 AND f.retry_at = {NEVER}"
)
"""The SQL FROM and WHERE of the batches (`f`) that are set aside, their editions (`e`) and shops (`s`)."""


def record(connection: ArrowConnection, batch: Batch, now: int, max_attempts: int) -> None:
    """Record that an attempt at a batch begins, which has failed unless it is deleted; the batch is set aside
    after `max_attempts`. Commits."""
    attempts = int(
        connection.value(
            "INSERT INTO edition_batch (edition, batch_id, attempts, failed_at, error) "
            "VALUES ($1, $2, 1, $3, $4) ON CONFLICT (edition, batch_id) DO UPDATE SET "
            "attempts = edition_batch.attempts + 1, failed_at = excluded.failed_at, "
            "error = excluded.error RETURNING attempts",
            *(batch["edition"], batch["batch_id"], now, _NOT_ENDED),
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


def name_error(connection: ArrowConnection, numbers: Iterable[int], since: int, error: str) -> None:
    """Record why the attempts at batches of these editions that began since then have failed. Commits."""
    connection.execute(
        f"UPDATE edition_batch SET error = $1 WHERE edition IN ({sql_list(numbers)}) AND attempts > 0 "
        "AND failed_at >= $2 AND error = $3",
        *(error[:_MAX_ERROR_LENGTH], since, _NOT_ENDED),
    )
    connection.commit()


def take_back(connection: ArrowConnection, owner: str) -> None:
    """Forget the attempts that have begun and not ended in the editions that a run holds: they end through
    no fault of a batch. Commits."""
    held = "edition IN (SELECT e.edition FROM edition e WHERE e.lease_owner = $1)"
    which = f"WHERE {held} AND error = '{_NOT_ENDED}' AND attempts"
    connection.execute(f"DELETE FROM edition_batch {which} = 1", owner)
    connection.execute(
        "UPDATE edition_batch SET attempts = attempts - 1, failed_at = 0, retry_at = 0, "
        f"error = 'an earlier attempt failed' {which} > 1",
        owner,
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


def failed_since(
    connection: ArrowConnection, numbers: Iterable[int], since: int
) -> list[dict[str, Any]]:
    """The batches of these editions that have failed since then and are not applied: as `list_failed`, with
    their `edition`. One that a process is at is none. Commits."""
    which = f"f.edition IN ({sql_list(numbers)}) AND f.failed_at >= $1 AND f.error <> $2"
    sql = f"SELECT f.edition, {_FAILED} AND {which}"
    failed = connection.table(sql, since, _NOT_ENDED).to_pylist()
    connection.commit()
    return failed


def list_failed(connection: ArrowConnection) -> list[dict[str, Any]]:
    """The batches that failed and are not applied, those set aside (`retry_at` NEVER) last.

    Columns: `shop_id`, `state` (of the edition), `batch_id`, `kind`, `rows`, `attempts`, `failed_at`,
    `retry_at`, `error`.
    """
    order = "ORDER BY f.retry_at, s.shop_id, b.batch_id"
    return connection.table(f"SELECT {_FAILED} {order}").to_pylist()

"""Shops and batches as rows of the queue, without a file that was imported."""

from warehouse.connections.arrow import ArrowConnection
from warehouse.editions import editions, pending_batches


def shop(connection: ArrowConnection, name: str, batches: int, rows: int = 10) -> int:
    """A shop with an edition and batches that wait; the edition."""
    key = connection.value(
        "INSERT INTO shop (shop_id, currency, timezone) VALUES ($1, 'EUR', 'UTC') RETURNING shop_key",
        name,
    )
    connection.commit()
    editions.create(connection, [key], 30, 1)
    for _ in range(batches):
        batch(connection, key, rows)
    connection.commit()
    return int(connection.value("SELECT edition FROM edition WHERE shop_key = $1", key))


def batch(connection: ArrowConnection, key: int, rows: int = 10) -> int:
    return int(
        connection.value(
            "INSERT INTO import_batch (shop_key, kind, rows, imported_at) "
            "VALUES ($1, 'events', $2, 1) RETURNING batch_id",
            key,
            rows,
        )
    )


def take(connection: ArrowConnection, batches: list[pending_batches.Batch], now: int) -> None:
    for one in batches:
        connection.execute(
            "INSERT INTO edition_batch (edition, batch_id) VALUES ($1, $2)",
            one["edition"],
            one["batch_id"],
        )
        editions.mark_rolled_up(connection, [one["edition"]], now)
    connection.commit()

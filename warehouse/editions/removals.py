"""Undos and forgets, as far as editions must know of them: which shops have raw rows that are to go, and
which undos and forgets end since no edition has their rows any more. The raw rows go in
`jobs/pipeline/removal.py`.
"""

from typing import Final

from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.vocabulary import UNDOING, UNDONE

ROWS_ARE_TO_GO: Final = " OR ".join(
    f"shop_key IN ({shops})"
    for shops in (
        "SELECT f.shop_key FROM forgotten f WHERE f.removed_at = 0 AND f.rows_gone_at = 0",
        *(
            f"SELECT r.shop_key FROM {table} r JOIN import_file i ON i.import_id = r.import_id "
            f"WHERE i.state = '{UNDOING}' AND i.rows_gone_at = 0"
            for table in ("import_batch", "repeated_event", "repeated_order")
        ),
    )
)
"""The SQL condition that a shop has raw rows which an undo or a forget is to delete, or is at it."""

# An edition `e` of the shop has the rows.
_HAS_ROWS: Final = "AND e.outdated_at > 0 AND e.outdated_at <= rows_gone_at"


def end(connection: ArrowConnection, now: int) -> None:
    """Record the undos and forgets as done whose rows are gone from all editions, too. Commits."""
    connection.execute(
        f"UPDATE forgotten SET removed_at = {now} WHERE removed_at = 0 AND rows_gone_at > 0 "
        f"AND NOT EXISTS (SELECT 1 FROM edition e WHERE e.shop_key = forgotten.shop_key {_HAS_ROWS})"
    )
    connection.execute(
        f"UPDATE import_file SET state = '{UNDONE}' WHERE state = '{UNDOING}' AND rows_gone_at > 0 "
        # One of several shops ends with the last of them.
        f"AND NOT EXISTS (SELECT 1 FROM edition e WHERE import_file.shop_key IN (0, e.shop_key) {_HAS_ROWS})"
    )
    connection.commit()

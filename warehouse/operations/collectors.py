"""The hosts on which collectors work for the warehouse, each a row of the table `collector` with its last
sign of life. A collector that is dead loses events for ever, so somebody must be told."""

from typing import Final

from sqlalchemy import Connection, text

_SEEN: Final = text(
    "INSERT INTO collector (host, seen_at) VALUES (:host, :now) "
    "ON CONFLICT (host) DO UPDATE SET seen_at = excluded.seen_at"
)


def sign_of_life(connection: Connection, host: str, now: int) -> None:
    """The caller commits."""
    connection.execute(_SEEN, {"host": host, "now": now})

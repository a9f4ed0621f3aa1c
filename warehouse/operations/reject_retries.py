"""Retries of rejected rows, as shops ask for them on their Data page.

Pages import nothing. They record that a shop asks, once until it is done. The next refresh tries the
shop's rejects in portions, each in a transaction of its own, and records how far it has come: a run that
was killed is continued by the next one.
"""

from typing import Any

from sqlalchemy import Connection, Row, bindparam, select, text

from warehouse.connections.arrow import ArrowConnection
from warehouse.tables import reject_retry

_ASK = text(
    "INSERT INTO reject_retry (shop_key, asked_at) VALUES (:shop_key, :now) "
    "ON CONFLICT (shop_key) DO UPDATE SET asked_at = excluded.asked_at, tried_at = 0, "
    "tried_through = 0, accepted = 0 WHERE reject_retry.tried_at <> 0 RETURNING shop_key"
)
_LAST = select(reject_retry).where(reject_retry.c.shop_key == bindparam("shop_key"))


def ask(connection: Connection, shop_key: int, now: int) -> bool:
    """Ask for a retry of the shop's rejects. False if one was asked for and is not done."""
    asked = connection.execute(_ASK, {"shop_key": shop_key, "now": now})
    return asked.one_or_none() is not None


def last(connection: Connection, shop_key: int) -> Row[Any] | None:
    """The row of the last one that the shop asked for."""
    return connection.execute(_LAST, {"shop_key": shop_key}).one_or_none()


def waiting(connection: ArrowConnection) -> list[tuple[int, int]]:
    """(shop key, reject id through which its rejects have been tried) of the retries that are not done,
    the oldest first. Commits."""
    rows = connection.table(
        "SELECT shop_key, tried_through FROM reject_retry WHERE tried_at = 0 "
        "ORDER BY asked_at, shop_key"
    ).to_pylist()
    connection.commit()
    return [(row["shop_key"], row["tried_through"]) for row in rows]


def advance(connection: ArrowConnection, shop_key: int, tried_through: int) -> None:
    """Record that the shop's rejects have been tried through this id. Commits."""
    connection.execute(
        "UPDATE reject_retry SET tried_through = $1 WHERE shop_key = $2 AND tried_at = 0",
        tried_through,
        shop_key,
    )
    connection.commit()


def finish(connection: ArrowConnection, shop_key: int, now: int) -> None:
    """Record that all of the shop's rejects have been tried. Commits."""
    connection.execute(
        "UPDATE reject_retry SET tried_at = $1 WHERE shop_key = $2 AND tried_at = 0", now, shop_key
    )
    connection.commit()


def count_accepted(connection: ArrowConnection, staged: str) -> None:
    """Count the rejects with the ids of a staged table as accepted, in the transaction that removes
    them, for the shops that wait for it."""
    accepted = (
        f"SELECT COUNT(*) FROM reject r JOIN {staged} s ON s.reject_id = r.reject_id "
        "WHERE r.shop_key = reject_retry.shop_key"
    )
    connection.execute(
        f"UPDATE reject_retry SET accepted = accepted + ({accepted}) WHERE tried_at = 0"
    )

"""Collectors, as they record themselves: each host's heartbeat, and the calls that they did not keep.

A dead collector loses events for ever, so somebody must be told. Nobody finds a call that was not kept among
the rejects, so these are counted: for each shop and reason, those of the last day (UTC) that had any.
"""

from collections.abc import Mapping
from datetime import date
from typing import Final, NamedTuple

from sqlalchemy import Connection, text

from warehouse.domain.time import MICROS_PER_DAY, day_date

# Why calls were not kept.
NO_ID: Final = "no_id"
TOO_MANY_BYTES: Final = "too_many_bytes"

_SEEN: Final = text(
    "INSERT INTO collector (host, seen_at) VALUES (:host, :now) "
    "ON CONFLICT (host) DO UPDATE SET seen_at = excluded.seen_at"
)
_ADD: Final = text(
    "INSERT INTO uncollected (shop_key, reason, day, calls) "
    "SELECT shop_key, :reason, CAST(:day AS BIGINT), CAST(:calls AS BIGINT) FROM shop "
    "WHERE shop_key = :shop_key ON CONFLICT (shop_key, reason) DO UPDATE SET day = excluded.day, "
    "calls = excluded.calls + CASE WHEN uncollected.day = excluded.day THEN uncollected.calls ELSE 0 END"
)
_OF_SHOP: Final = text(
    "SELECT day, calls FROM uncollected "
    "WHERE shop_key = :shop_key AND reason = :reason AND day >= :first"
)


class Uncollected(NamedTuple):
    """The calls of one day that were not kept."""

    day: date
    calls: int


def record_heartbeat(connection: Connection, host: str, now: int) -> None:
    """Record that a collector works on a host. The caller commits."""
    connection.execute(_SEEN, {"host": host, "now": now})


def add_uncollected(
    connection: Connection, counts: Mapping[tuple[int, str], int], now: int
) -> None:
    """Count calls that were not kept, by shop and reason. The caller commits."""
    for (shop_key, reason), calls in sorted(counts.items()):
        row = {"shop_key": shop_key, "reason": reason, "day": now // MICROS_PER_DAY, "calls": calls}
        connection.execute(_ADD, row)


def find_uncollected(
    connection: Connection, shop_key: int, reason: str, now: int, days: int
) -> Uncollected | None:
    """The calls of a shop that were not kept for a reason, if there were any within so many days."""
    values = {"shop_key": shop_key, "reason": reason, "first": now // MICROS_PER_DAY - days}
    row = connection.execute(_OF_SHOP, values).one_or_none()
    return Uncollected(day_date(row.day), row.calls) if row else None

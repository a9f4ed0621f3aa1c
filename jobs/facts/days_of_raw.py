"""The raw rows of some days of some editions, as conditions of SQL over a staged table of these days."""

from collections.abc import Mapping, Sequence
from typing import Final

import pandas as pd
import pyarrow as pa

from jobs.facts.touched import ORDER, SESSION
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import day_start
from warehouse.editions.editions import Edition
from warehouse.editions.pending_batches import has_applied

# The days of each edition, ascending.
Days = Mapping[Edition, Sequence[int]]

_STAGED: Final = "staged_spans"


def _of_days(table: str, at: str) -> str:
    """FROM and WHERE of the applied rows (`r`) of the staged days."""
    return (
        f"FROM {_STAGED} k JOIN edition e ON e.edition = k.edition CROSS JOIN {table} r "
        f"WHERE r.shop_key = e.shop_key AND r.{at} BETWEEN k.low AND k.high "
        f"AND {has_applied('e', 'r.batch_id')}"
    )


EVENTS: Final = (
    f"SELECT r.shop_key, r.form_id, r.occurred_at {_of_days('raw_event', 'occurred_at')}"
)
"""The raw events of the staged days."""

SESSIONS: Final = f"SELECT r.{SESSION.replace(', ', ', r.')} {_of_days('raw_event', 'occurred_at')}"
"""The form sessions with an event in the staged days, in the columns of `touched.SESSION`."""

ORDERS: Final = f"SELECT r.{ORDER.replace(', ', ', r.')} {_of_days('raw_order', 'created_at')}"
"""The orders that were created in the staged days, in the columns of `touched.ORDER`."""


def spans(days: Days) -> pd.DataFrame:
    """Spans of consecutive days: edition, first, last (days); low, high (their first and last instant)."""
    rows = []
    for edition, own in days.items():
        first = previous = own[0]
        for day in (*own[1:], None):
            if day is None or day != previous + 1:
                low, end = (day_start(at, edition.timezone) for at in (first, previous + 1))
                rows.append((edition.edition, first, previous, low, end - 1))
                first = day if day is not None else first
            previous = day if day is not None else previous
    return pd.DataFrame(rows, columns=["edition", "first", "last", "low", "high"])


def stage(connection: ArrowConnection, days: Days) -> str:
    """Stage the days, and return the name of the temporary table."""
    rows = spans(days)
    return connection.stage(
        _STAGED, pa.table({name: rows[name].to_numpy() for name in ("edition", "low", "high")})
    )

"""The raw rows of some days of some editions, as conditions of SQL over a staged table of these days."""

from collections.abc import Mapping, Sequence
from typing import Final

import pandas as pd
import pyarrow as pa

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


# Without the form: events of another one may count as its, in a session with the same id.
_SESSION: Final = "shop_key, form_session_id"
_ORDER: Final = "shop_key, order_id, updated_at, content"

EVENTS: Final = (
    f"SELECT r.shop_key, r.form_id, r.occurred_at {_of_days('raw_event', 'occurred_at')}"
)
"""The raw events of the staged days."""

IN_SESSIONS: Final = (
    f"shop_key IN (SELECT e.shop_key FROM {_STAGED} k JOIN edition e ON e.edition = k.edition) "
    # The sign keeps SQLite from reading all of a shop's rows for each of its sessions.
    f"AND (+{_SESSION}) IN (SELECT r.{_SESSION.replace(', ', ', r.')} "
    f"{_of_days('raw_event', 'occurred_at')}) AND EXISTS (SELECT 1 FROM edition e "
    f"WHERE e.shop_key = raw_event.shop_key AND e.edition IN (SELECT edition FROM {_STAGED}) "
    f"AND {has_applied('e', 'raw_event.batch_id')})"
)
"""The condition on `raw_event`: an applied event of a form session with an event in the staged days, or of
another form's session with the same id."""

IN_ORDERS: Final = (
    f"({_ORDER}) IN (SELECT r.{_ORDER.replace(', ', ', r.')} {_of_days('raw_order', 'created_at')})"
)
"""The condition on `raw_order`: an applied version of an order that was created in the staged days."""


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

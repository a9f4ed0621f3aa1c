"""What customers spent from a submission on: shared by the two lifetime-value summaries."""

from typing import Final

import numpy as np
import pandas as pd

from jobs.codes import Column, ascending, lookup
from jobs.columns import Source, ints
from jobs.rollups.submissions import submissions
from jobs.rollups.summing import Value
from warehouse.days import MICROS_PER_DAY
from warehouse.vocabulary import LTV_HORIZONS

_MEASURES: Final = (
    "purchasers",
    "repeaters",
    "orders",
    "gross",
    "refunded",
    *(f"net_{days}" for days in LTV_HORIZONS),
)

# The measures of an acquisition, as columns of `acquirers`.
LIFETIME: Final[dict[str, Value]] = {"customers": 1, **{name: name for name in _MEASURES}}


def acquirers(sessions: Source, orders: Source) -> dict[str, Column]:
    """Submissions of known customers, with what the customer ordered from that instant on.

    The columns of `submissions` and: purchasers and repeaters (1 with at least one, two orders);
    orders, gross, refunded to date; net_H (gross less refunded of the orders less than H * 24 h
    after the submission).

    Any submission may turn out to acquire its customer, for a form or a segment. The sums depend on
    nothing else, so they are worked out once for each, as differences of running sums over the
    orders in the order of (customer, instant): submissions and orders are never multiplied.
    """
    rows = submissions(sessions)
    known = np.flatnonzero(rows["customer"])
    rows = {name: column[known] for name, column in rows.items()}
    rank, customers = pd.factorize(rows["customer"])
    timeline = _Timeline(orders, customers)
    submitted_at = rows["submitted_at"]
    start, end = timeline.since(rank, submitted_at), timeline.end(rank)
    rows["orders"] = end - start
    rows["purchasers"] = (end - start >= 1).astype(np.int64)
    rows["repeaters"] = (end - start >= 2).astype(np.int64)
    rows["gross"] = timeline.gross[end] - timeline.gross[start]
    rows["refunded"] = timeline.refunded[end] - timeline.refunded[start]
    net = timeline.gross - timeline.refunded
    for days in LTV_HORIZONS:
        until = timeline.since(rank, submitted_at + days * MICROS_PER_DAY)
        rows[f"net_{days}"] = net[until] - net[start]
    return rows


class _Timeline:
    """The orders of some customers, by customer and instant, with their running sums.

    A customer is given by the place among `customers`. `gross[n]` is that of the first n orders.
    """

    def __init__(self, orders: Source, customers: Column) -> None:
        customer = lookup(customers, ints(orders, "customer"))
        known = customer >= 0
        created_at = ints(orders, "created_at")[known]
        self._instants = ascending(created_at)
        places = self._place(customer[known], created_at)
        order = np.argsort(places)
        self._places = places[order]
        self.gross = _running(ints(orders, "gross")[known][order])
        self.refunded = _running(ints(orders, "refunded")[known][order])

    def since(self, customer: Column, instant: Column) -> Column:
        """How many orders come before the customer's first one at or after the instant."""
        return np.searchsorted(self._places, self._place(customer, instant))

    def end(self, customer: Column) -> Column:
        """How many orders come before the next customer's first one."""
        return np.searchsorted(self._places, (customer + 1) * (len(self._instants) + 1))

    def _place(self, customer: Column, instant: Column) -> Column:
        """Customer and instant as one integer that sorts like both: the instant by its rank."""
        return customer * (len(self._instants) + 1) + np.searchsorted(self._instants, instant)


def _running(amounts: Column) -> Column:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(amounts)])

"""Lifetime value: what customers spent from the submission on that acquired them."""

from typing import Final

import numpy as np
import pandas as pd

from jobs.arrays.columns import Columns, int_column, take
from jobs.arrays.group_keys import Column, earliest, group_keys, index_of, sorted_unique
from jobs.facts.facts import Facts
from jobs.rollups.parts import DailyRows, Part, Value, total
from jobs.rollups.submissions import submissions
from warehouse.catalogue import LIFETIME
from warehouse.domain.time import MICROS_PER_DAY
from warehouse.domain.vocabulary import LTV_HORIZONS

_VALUES: Final[dict[str, Value]] = {"customers": 1, **{name: name for name in LIFETIME}}


def ltv_form(facts: Facts) -> DailyRows:
    """Customers by form, on the day of their first submission to it, and their orders since.

    Orders of the same customer from that submission on count, whatever they are attributed to;
    `net_H` only those less than H * 24 h after it. Customer 0 is nobody.

    The unit is the customer: `facts` must hold all submissions and orders of each that it holds at
    all. For a difference, less is enough (`jobs/facts/rollup_units.py`).
    """
    rows = _acquisitions(facts)
    groups = group_keys(rows["customer"], rows["form"]).dense()
    first = earliest(groups, rows["submitted_at"])
    return total("ltv_form", Part(take(rows, first, [*rows]), _VALUES))


def ltv_segment(facts: Facts) -> DailyRows:
    """Customers by field and value, on the day of their first submission with that answer.

    Equal field ids of different forms are one field; only values that can be aggregated count. The
    rest is as in `ltv_form`; of each customer that `facts` holds, all answers must be there too.
    """
    rows = _acquisitions(facts)
    chosen = facts.answers[facts.answers["value"] != 0]
    index = index_of(rows["session"], int_column(chosen, "session"))
    answers = take(chosen, index >= 0, ["field", "value"])
    index = index[index >= 0]
    groups = group_keys(rows["customer"][index], answers["field"], answers["value"]).dense()
    first = earliest(groups, rows["submitted_at"][index])
    acquired = take(rows, index[first], [*rows])
    return total("ltv_segment", Part(acquired | take(answers, first, [*answers]), _VALUES))


def _acquisitions(facts: Facts) -> dict[str, Column]:
    """Submissions of known customers, with what the customer ordered from that instant on.

    The columns of `submissions` and those of LIFETIME: purchasers and repeaters (1 with at least one,
    two orders); orders, gross, refunded to date; net_H (gross less refunded of the orders less than
    H * 24 h after the submission).

    Any submission may be the one that acquires its customer, for a form or a segment. The sums are
    differences of running sums over the orders by customer and instant, so submissions and orders
    are never multiplied.
    """
    rows = submissions(facts.sessions)
    known = np.flatnonzero(rows["customer"])
    rows = {name: column[known] for name, column in rows.items()}
    rank, customers = pd.factorize(rows["customer"])
    timeline = _Timeline(facts.orders, customers)
    submitted_at = rows["submitted_at"]
    start, end = timeline.orders_before(rank, submitted_at), timeline.orders_through(rank)
    rows["orders"] = end - start
    rows["purchasers"] = (end - start >= 1).astype(np.int64)
    rows["repeaters"] = (end - start >= 2).astype(np.int64)
    rows["gross"] = timeline.gross[end] - timeline.gross[start]
    rows["refunded"] = timeline.refunded[end] - timeline.refunded[start]
    net = timeline.gross - timeline.refunded
    for days in LTV_HORIZONS:
        until = timeline.orders_before(rank, submitted_at + days * MICROS_PER_DAY)
        rows[f"net_{days}"] = net[until] - net[start]
    return rows


class _Timeline:
    """The orders of some customers by customer and instant, with their running sums.

    A customer is given as the index among `customers`. `gross[n]` is that of the first n orders.
    """

    def __init__(self, orders: Columns, customers: Column) -> None:
        customer = index_of(customers, int_column(orders, "customer"))
        known = customer >= 0
        created_at = int_column(orders, "created_at")[known]
        self._instants = sorted_unique(created_at)
        sort_keys = self._sort_key(customer[known], created_at)
        order = np.argsort(sort_keys)
        self._sort_keys = sort_keys[order]
        self.gross = _running_sum(int_column(orders, "gross")[known][order])
        self.refunded = _running_sum(int_column(orders, "refunded")[known][order])

    def orders_before(self, customer: Column, instant: Column) -> Column:
        """The number of orders before the customer's first one at or after the instant."""
        return np.searchsorted(self._sort_keys, self._sort_key(customer, instant))

    def orders_through(self, customer: Column) -> Column:
        """The number of orders before the next customer's first one."""
        return np.searchsorted(self._sort_keys, (customer + 1) * (len(self._instants) + 1))

    def _sort_key(self, customer: Column, instant: Column) -> Column:
        """Customer and rank of the instant as one integer that sorts like both."""
        return customer * (len(self._instants) + 1) + np.searchsorted(self._instants, instant)


def _running_sum(amounts: Column) -> Column:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(amounts)])

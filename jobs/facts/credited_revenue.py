"""The revenue of form sessions: the orders that are credited to each, and their money."""

from typing import Final

import numpy as np
import pandas as pd

from jobs.arrays.group_keys import Column, index_of
from jobs.facts.changes import Versions
from warehouse.catalogue import REVENUE
from warehouse.daily import group_sum

_KEY: Final = ("edition", "session")


def with_credited_revenue(sessions: pd.DataFrame, orders: Versions) -> pd.DataFrame:
    """The sessions (by id), with the orders' figures taken from the session that they were credited to
    and added to the one that they are credited to now.

    `sessions` holds all of these sessions, but for those that have no event left. Money is in minor units.
    """
    old, new = (_figures(rows[rows["session"] != 0]) for rows in (orders.old, orders.new))
    rows = {name: np.concatenate([-old[name], new[name]]) for name in REVENUE}
    rows |= {name: np.concatenate([old[name], new[name]]) for name in _KEY}
    moves = group_sum.total(rows, _KEY)
    moved = np.logical_or.reduce([moves[name] != 0 for name in REVENUE])
    index = index_of(sessions.index.to_numpy(), moves["session"])
    moved &= index >= 0
    columns = {}
    for name in REVENUE:
        columns[name] = sessions[name].to_numpy().copy()
        columns[name][index[moved]] += moves[name][moved]
    return sessions.assign(**columns)


def with_revenue_recounted(
    sessions: pd.DataFrame, ids: Column, orders: pd.DataFrame
) -> pd.DataFrame:
    """The sessions (by id), those with these ids with the figures of the stored orders that are credited to
    them in place of those stored. `orders` holds all of these orders."""
    is_recounted = sessions.index.isin(ids)
    nothing = {name: sessions[name].mask(is_recounted, 0) for name in REVENUE}
    own = orders[orders["session"].isin(ids)]
    return with_credited_revenue(sessions.assign(**nothing), Versions(own.iloc[:0], own))


def _figures(orders: pd.DataFrame) -> dict[str, Column]:
    figures = {name: orders[name].to_numpy() for name in (*_KEY, *REVENUE) if name != "orders"}
    return figures | {"orders": np.ones(len(orders), np.int64)}

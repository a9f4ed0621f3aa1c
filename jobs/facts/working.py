"""The working set of a batch: old and new version of every fact that it touches.

Sessions and orders are loaded by whatever links them to the change (visitor, customer, code, ...),
once each; both versions start equal and only the new one is changed. At the end the rows that differ
are what is written, and what the daily rows move by.
"""

import numpy as np
import pandas as pd
from sqlalchemy import Table

from jobs.facts import store
from jobs.facts.frames import by_id
from warehouse import tables
from warehouse.bulk import Bulk
from warehouse.editions import SESSION_BITS

_ORDER = store.columns_of(tables.fact_order)
# What the daily rows are made of, beside the session's own children.
DERIVED = ("customer", "fresh", "orders", "gross", "refunded")


class Working:
    """`old` and `new` sessions by session id, orders by order id; `codes` of all orders loaded."""

    def __init__(self, bulk: Bulk) -> None:
        self.bulk = bulk
        sessions = self._load(tables.fact_form_session, pd.DataFrame())
        orders = self._load(tables.fact_order, pd.DataFrame())
        self.old_sessions = by_id(sessions, "session")
        self.new_sessions = self.old_sessions.copy()
        self.old_orders = by_id(orders, "order")
        self.new_orders = self.old_orders.copy()

    def _load(self, table: Table, keys: pd.DataFrame, condition: str = "true") -> pd.DataFrame:
        rows = store.load(self.bulk, table, keys, condition)
        # The id of the row's own customer_id; it decides `customer` wherever there is one.
        return rows.assign(customer_own=rows["customer"].where(rows["customer_id"] != "", 0))

    def load_sessions(self, keys: pd.DataFrame, condition: str = "true") -> None:
        """Bring in the stored sessions that match `keys` and are not here yet."""
        found = self._load(tables.fact_form_session, keys, condition)
        fresh = found[~found["session"].isin(self.new_sessions.index)]
        if len(fresh):
            rows = by_id(fresh.drop_duplicates("session"), "session")
            self.old_sessions = _stack(self.old_sessions, rows)
            self.new_sessions = _stack(self.new_sessions, rows)

    def put_sessions(self, rows: pd.DataFrame) -> None:
        """New versions of sessions, in the place of the ones here."""
        self.new_sessions = _put(self.new_sessions, rows)

    def put_orders(self, rows: pd.DataFrame, gone: pd.Index) -> None:
        """New versions of orders, in the place of the ones here and of those that are gone."""
        self.new_orders = _put(self.new_orders[~self.new_orders.index.isin(gone)], rows)

    def load_orders(self, keys: pd.DataFrame, condition: str = "true") -> None:
        """Bring in the stored orders that match `keys` and are not here yet."""
        found = self._load(tables.fact_order, keys, condition)
        # An order that this batch removes is known by its old version alone.
        fresh = found[~found["order"].isin(self.old_orders.index)]
        fresh = fresh[~fresh["order"].isin(self.new_orders.index)]
        if len(fresh):
            rows = by_id(fresh.drop_duplicates("order"), "order")
            self.old_orders = _stack(self.old_orders, rows)
            self.new_orders = _stack(self.new_orders, rows)

    def changed_sessions(self, folded: np.ndarray) -> np.ndarray:
        """Ids of the sessions whose figures may have moved: new events, or another derived value."""
        return _differing(self.old_sessions, self.new_sessions, DERIVED, folded)

    def changed_orders(self) -> np.ndarray:
        """Ids of the orders that are new, gone, or different in any column."""
        return _differing(self.old_orders, self.new_orders, tuple(_ORDER), np.empty(0, np.int64))


def _put(rows: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    return _stack(rows[~rows.index.isin(new.index)], new)


def _stack(rows: pd.DataFrame, more: pd.DataFrame) -> pd.DataFrame:
    return more[rows.columns].copy() if rows.empty else pd.concat([rows, more[rows.columns]])


def _differing(
    old: pd.DataFrame, new: pd.DataFrame, columns: tuple[str, ...], more: np.ndarray
) -> np.ndarray:
    both = old.index.intersection(new.index)
    ours, theirs = old.loc[both], new.loc[both]
    moved = np.zeros(len(both), dtype=bool)
    for name in columns:
        moved |= (ours[name] != theirs[name]).to_numpy()
    single = old.index.symmetric_difference(new.index)
    parts = [both[moved].to_numpy(), single.to_numpy(), more]
    return np.unique(np.concatenate(parts).astype(np.int64))


def session_numbers(edition: int, first: int, count: int) -> np.ndarray:
    """`count` session ids of an edition, unique over all editions."""
    return (edition << SESSION_BITS) + first + np.arange(count, dtype=np.int64)

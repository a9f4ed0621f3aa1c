"""The working set of a batch: old and new version of every fact that it touches.

Sessions and orders are loaded by whatever links them to the change (visitor, customer, code, ...),
once each; both versions start equal and only the new one is changed. At the end the rows that differ
are what is written, and what the daily rows move by.
"""

from typing import Final

import numpy as np
import pandas as pd

from jobs.codes import Column, ascending
from jobs.columns import Source
from jobs.facts import store
from jobs.facts.frames import by_id
from warehouse import tables
from warehouse.bulk import Bulk
from warehouse.editions import SESSION_BITS

_FORM_SESSION: Final = list(tables.fact_form_session.names)
# Nothing asks for an order's own id but the row that is stored.
_ORDER: Final = [name for name in tables.fact_order.names if name != "order_id"]
# A text that is another has another id, too.
_FIGURES: Final = [name for name in _ORDER if name not in tables.fact_order.texts]
# The events that decided what a session carries: nothing asks for them but the merge with new ones.
DECIDERS: Final = [name for name in _FORM_SESSION if name.endswith("_event")]
# What is held of every session. All but one are numbers, which a frame keeps in one block; each text
# costs every step as much again.
SESSION: Final = [name for name in _FORM_SESSION if name not in DECIDERS]
# What other facts make of a session.
DERIVED: Final = ["customer", "fresh", "orders", "gross", "refunded"]
# And of an order.
CREDIT: Final = ["customer", "type", "session", "form", "utm"]


class Working:
    """`old` and `new` sessions by session id, orders by order id; of those that the batch itself
    brought what else is stored of them: `deciders` of sessions, `order_ids`."""

    def __init__(self, bulk: Bulk) -> None:
        self.bulk = bulk
        sessions = store.no_rows(tables.fact_form_session, _FORM_SESSION)
        orders = by_id(store.no_rows(tables.fact_order, tables.fact_order.names), "order")
        self.old_sessions = by_id(sessions[SESSION], "session")
        self.new_sessions = self.old_sessions.copy()
        self.deciders = by_id(sessions, "session")[DECIDERS]
        self.old_orders = orders[_ORDER]
        self.new_orders = self.old_orders.copy()
        self.order_ids = orders[["order_id"]]

    def load_sessions(self, keys: Source, condition: str = "true") -> None:
        """Bring in the stored sessions that match `keys` and are not here yet."""
        self.bring(store.load(self.bulk, tables.fact_form_session, keys, condition, SESSION))

    def bring(self, stored: pd.DataFrame) -> None:
        """Take stored sessions that are not here yet."""
        ids = stored["session"]
        fresh = stored[~(ids.isin(self.new_sessions.index) | ids.duplicated())]
        if len(fresh):
            rows = by_id(fresh, "session")
            self.old_sessions = _stack(self.old_sessions, rows)
            self.new_sessions = _stack(self.new_sessions, rows)

    def put_sessions(self, rows: pd.DataFrame) -> None:
        """New versions of sessions, in the place of the ones here."""
        self.new_sessions = _put(self.new_sessions, rows)
        self.deciders = _put(self.deciders, rows)

    def put_orders(self, rows: pd.DataFrame, gone: pd.Index) -> None:
        """New versions of orders, in the place of the ones here and of those that are gone."""
        self.new_orders = _put(self.new_orders[~self.new_orders.index.isin(gone)], rows)
        self.order_ids = _put(self.order_ids, rows)

    def load_orders(self, keys: Source, condition: str = "true") -> None:
        """Bring in the stored orders that match `keys` and are not here yet."""
        found = store.load(self.bulk, tables.fact_order, keys, condition, _ORDER)
        ids = found["order"]
        # An order that this batch removes is known by its old version alone.
        known = ids.isin(self.old_orders.index) | ids.isin(self.new_orders.index)
        fresh = found[~(known | ids.duplicated())]
        if len(fresh):
            rows = by_id(fresh, "order")
            self.old_orders = _stack(self.old_orders, rows)
            self.new_orders = _stack(self.new_orders, rows)

    def changed_sessions(self, folded: np.ndarray) -> np.ndarray:
        """Ids of the sessions whose figures may have moved: new events, or another derived value."""
        return _differing(self.old_sessions, self.new_sessions, DERIVED, folded)

    def changed_orders(self) -> np.ndarray:
        """Ids of the orders that are new, gone, or different in any column."""
        return _differing(self.old_orders, self.new_orders, _FIGURES, np.empty(0, np.int64))


def those(frame: pd.DataFrame, ids: Column | pd.Index) -> pd.DataFrame:
    """The rows of these ids (of those that are there)."""
    return frame[frame.index.isin(ids)]


def _put(rows: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    return _stack(rows[~rows.index.isin(new.index)], new)


def _stack(rows: pd.DataFrame, more: pd.DataFrame) -> pd.DataFrame:
    if not more.columns.equals(rows.columns):
        more = more[rows.columns]
    return more.copy() if rows.empty else pd.concat([rows, more])


def _differing(
    old: pd.DataFrame, new: pd.DataFrame, columns: list[str], more: np.ndarray
) -> np.ndarray:
    places = new.index.get_indexer(old.index)
    both = places >= 0
    ours, theirs = (frame[columns].to_numpy(np.int64) for frame in (old, new))
    moved = (ours[both] != theirs[places[both]]).any(axis=1)
    ids = old.index.to_numpy()
    arrived = new.index.to_numpy()[~new.index.isin(old.index)]
    return ascending(ids[both][moved], ids[~both], arrived, more)


def session_ids(editions: Column, numbers: Column) -> Column:
    """Session ids, unique over all editions, of numbers that are unique within their edition."""
    return (editions << SESSION_BITS) + numbers


def next_numbers(sessions: Column) -> dict[str, Column]:
    """The numbers behind those of these sessions: edition, next_session."""
    editions, numbers = np.divmod(np.sort(sessions), 1 << SESSION_BITS)
    last = np.flatnonzero(np.diff(editions, append=-1))
    return {"edition": editions[last], "next_session": numbers[last] + 1}

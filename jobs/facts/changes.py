"""The changes of facts: read and derived, a subject after the other, then written and rolled up."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from sqlalchemy import Table

from jobs.arrays.columns import those
from jobs.arrays.group_keys import (
    Column,
    except_ids,
    group_keys,
    index_of_rows,
    sorted_unique,
)
from jobs.facts.partials import Partials
from warehouse import tables
from warehouse.domain.vocabulary import UNATTRIBUTED, UNKNOWN_CUSTOMER
from warehouse.tables.base import column_names, is_text, key_names

SESSION: Final = list(column_names(tables.fact_form_session))
# The columns that a session has from other facts.
SESSION_DERIVED: Final = ["customer", "is_first_session", "orders", "gross", "refunded"]
# The order's own id is only stored: nothing is derived from it.
ORDER: Final = [name for name in column_names(tables.fact_order) if name != "order_id"]
# The columns that an order has from other facts.
ORDER_DERIVED: Final = ["customer", "customer_type", "type", "session", "form", "utm"]
_NOT_DERIVED: Final = dict.fromkeys(ORDER_DERIVED, 0) | {
    "customer_type": UNKNOWN_CUSTOMER,
    "type": UNATTRIBUTED,
}
_ORDER_NUMBERS: Final = [name for name in ORDER if not is_text(tables.fact_order.c[name])]


@dataclass(frozen=True)
class Versions:
    """Rows before a change (`old`, as stored) and after it (`new`)."""

    old: pd.DataFrame
    new: pd.DataFrame

    def of(self, ids: Column | pd.Index) -> "Versions":
        """The rows with these ids in their index, where there are any."""
        return Versions(*(those(rows, rows.index.isin(ids)) for rows in (self.old, self.new)))

    def having(self, name: str, ids: Column | pd.Index | pd.Series) -> "Versions":
        """The rows with one of these ids in a column."""
        return Versions(
            *(
                those(rows, rows[name].isin(ids)).reset_index(drop=True)
                for rows in (self.old, self.new)
            )
        )

    def differing(self, table: Table) -> "Versions":
        """The rows of a table without those that are the same in both versions."""
        if self.old.empty or self.new.empty:
            return self
        id = key_names(table)[1]
        again = self.new[id].isin(self.old[id]).to_numpy()
        names = column_names(table)
        both = (_as_numbers(self.old[name], self.new[name], again) for name in names)
        keys = group_keys(*both).dense().keys
        differs, stored = np.bincount(keys)[keys] == 1, len(self.old)
        is_new = ~again
        is_new[again] = differs[stored:]
        return Versions(self.old[differs[:stored]], self.new[is_new])

    def stacked(self, old: pd.DataFrame, new: pd.DataFrame) -> "Versions":
        """Versions with rows added to each, in the columns of the first."""
        if not len(old) and not len(new):
            return self
        return Versions(
            *(
                pd.concat([rows[old.columns], more[old.columns]], ignore_index=True)
                for rows, more in ((self.old, old), (self.new, new))
            )
        )

    def plus(self, *parts: pd.DataFrame) -> "Versions":
        """Versions with unchanged rows added. Rows that are there already, in either version, stay."""
        some = [part for part in parts if len(part)]
        if not some:
            return self
        rows = unique_ids(*some)
        rows = rows[~(rows.index.isin(self.old.index) | rows.index.isin(self.new.index))]
        return Versions(stack(self.old, rows), stack(self.new, rows))


def _as_numbers(old: pd.Series, new: pd.Series, rows: npt.NDArray[np.bool_]) -> Column:
    """A column before a change and these rows of it after, a text as a number."""
    if old.dtype == np.int64:
        return np.concatenate([old.to_numpy(), new.to_numpy()[rows]])
    return pd.factorize(pd.concat([old, new[rows]]))[0]


@dataclass(frozen=True)
class CodeUsage:
    """The numbers of facts that name codes, and the discount that each code belongs to.

    - `codes`: edition, code; every code that the rows of the batches name in either version
    - `counts`: the new rows of code_usage of these codes
    - `discounts`: the new rows of dim_discount_code of these codes
    - `texts`: edition, id, text; of the discounts
    """

    codes: pd.DataFrame
    counts: pd.DataFrame
    discounts: pd.DataFrame
    texts: pd.DataFrame


@dataclass
class Changes:
    """Old and new version of the facts that a change touches. Each subject reads what it depends on into
    them, and derives its own (`pipeline/derive.py`); the last are the discounts.

    - `partials`: what the rows of the touched sessions and orders say by themselves, but for what is in the
      other fields: the sessions with their steps and answers
    - `touched`: ids of the touched sessions
    - `are_first`: nothing is stored of their editions, so that nothing is looked up
    - `sessions`: columns SESSION by session id, `orders`: columns ORDER by order id; all that were
      read, changed or not
    - `steps`, `answers`: rows of fact_step and fact_answer of the touched sessions
    - `issues`, `order_codes`: rows of fact_code_issued and fact_order_code, complete for each session
      and order that has one here; in the end those of the touched ones, and of all whose rows differ
    - `code_usage`: see `CodeUsage`
    - `emails`, `step_names`, `texts`: rows of fact_email, dim_step and dim_text
    """

    partials: Partials
    touched: Column
    are_first: bool
    sessions: Versions
    orders: Versions
    steps: Versions
    answers: Versions
    issues: Versions
    order_codes: Versions
    step_names: Versions
    emails: Versions = field(init=False)
    code_usage: CodeUsage = field(init=False)
    texts: pd.DataFrame = field(init=False)

    @cached_property
    def whole(self) -> dict[Table, Versions]:
        """Whole rows of tables: those of the touched sessions and orders, and what follows from these."""
        return {
            tables.fact_form_session: self.sessions.of(self.touched),
            tables.fact_step: self.steps,
            tables.fact_answer: self.answers,
            tables.fact_code_issued: self.issues,
            tables.fact_order_code: self.order_codes,
            tables.fact_email: self.emails,
            tables.dim_step: self.step_names,
        }

    @cached_property
    def differing(self) -> dict[Table, Versions]:
        """The whole rows that are not the same in both versions."""
        return {table: rows.differing(table) for table, rows in self.whole.items()}

    @cached_property
    def changed_sessions(self) -> Column:
        """Ids of the sessions that differ, in their own row or in those of their steps, answers and issues.
        Many that are touched do not."""
        ids = [differing(self.sessions, SESSION_DERIVED)]
        for table in (tables.fact_form_session, tables.fact_step, tables.fact_answer):
            ids += self._ids_of_differing(table)
        issued = np.concatenate(self._ids_of_differing(tables.fact_code_issued))
        return sorted_unique(*ids, issued[np.isin(issued, self.touched)])

    def _ids_of_differing(self, table: Table) -> list[Column]:
        rows = self.differing[table]
        return [part["session"].to_numpy() for part in (rows.old, rows.new)]

    @cached_property
    def changed_orders(self) -> Column:
        """Ids of the orders that differ."""
        return differing(self.orders, _ORDER_NUMBERS)

    @cached_property
    def standing_orders(self) -> pd.DataFrame:
        """The standing versions of the touched orders (`RawOrders.orders`) that count, by order id, with
        nothing derived: a test order counts nowhere."""
        orders = self.partials.orders
        return by_id(orders[orders["test"] == 0].assign(**_NOT_DERIVED), "order")

    @cached_property
    def touched_orders(self) -> Column:
        """Ids of the touched orders, those that became a test or have no version left among them."""
        gone = except_ids(self.changed_orders, self.orders.new.index.to_numpy())
        return sorted_unique(self.standing_orders.index.to_numpy(), gone)

    @cached_property
    def changed_outcomes(self) -> Column:
        """Ids of the sessions that changed, or to which a changed order is or was credited: an order may
        come at another instant with the same money."""
        orders = self.orders.of(self.changed_orders)
        credited = (orders.old["session"].to_numpy(), orders.new["session"].to_numpy())
        ids = sorted_unique(self.changed_sessions, *credited)
        return ids[ids != 0]

    @cached_property
    def sessions_to_roll_up(self) -> Column:
        """Ids of the sessions that changed, or whose outcomes or discounts did."""
        named = self._ids_of_differing(tables.fact_code_issued)
        return sorted_unique(self.changed_outcomes, *named)

    @cached_property
    def orders_to_roll_up(self) -> Column:
        """Ids of the orders that changed, or whose discounts did."""
        codes = (self.order_codes.old["order"].to_numpy(), self.order_codes.new["order"].to_numpy())
        return sorted_unique(self.changed_orders, *codes)


def by_id(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rows with a column of ids as their index.

    Not by `set_index`, which makes a range of any two ids; the end of that may not fit into 64 bits.
    """
    return rows.set_axis(pd.Index(rows[name].to_numpy(np.int64), name=name, copy=False))


def without(stored: pd.DataFrame, keys: pd.DataFrame) -> Versions:
    """Stored rows before and after those with one of these keys (some of their columns) are taken out."""
    index = index_of_rows(*([rows[name].to_numpy() for name in keys] for rows in (keys, stored)))
    return Versions(stored, stored[index < 0])


def unique_ids(*rows: pd.DataFrame) -> pd.DataFrame:
    """All of these rows, each id of their index once."""
    joint = pd.concat(rows)
    return joint[~joint.index.duplicated()]


def stack(rows: pd.DataFrame, more: pd.DataFrame) -> pd.DataFrame:
    """Rows of two frames, in the columns of the first."""
    if not len(more):
        return rows
    return pd.concat([rows, more[rows.columns]]) if len(rows) else more[rows.columns]


def put(rows: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """The rows, with the new ones in place of those that have their ids."""
    return stack(rows[~rows.index.isin(new.index)], new)


def differing(rows: Versions, columns: list[str]) -> Column:
    """Ids of the rows that are new, gone, or different in one of these columns of numbers."""
    old, new = rows.old, rows.new
    if old.empty:
        return sorted_unique(new.index.to_numpy())
    index = new.index.get_indexer(old.index)
    kept = index >= 0
    ours, theirs = (part[columns].to_numpy(np.int64) for part in (old, new))
    moved = (ours[kept] != theirs[index[kept]]).any(axis=1)
    ids = old.index.to_numpy()
    arrived = new.index.to_numpy()[~new.index.isin(old.index)]
    return sorted_unique(ids[kept][moved], ids[~kept], arrived)

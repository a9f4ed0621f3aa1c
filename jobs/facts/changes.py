"""The changes that a group of import batches makes: derived first, then written and rolled up."""

from dataclasses import dataclass
from typing import Final

import pandas as pd

from jobs.arrays.group_keys import Column, except_ids, index_of_rows, sorted_unique
from warehouse import tables
from warehouse.tables.base import column_names

SESSION: Final = list(column_names(tables.fact_form_session))
# The columns that a session has from other facts.
SESSION_DERIVED: Final = ["customer", "is_first_session", "orders", "gross", "refunded"]
# The order's own id is only stored: nothing is derived from it.
ORDER: Final = [name for name in column_names(tables.fact_order) if name != "order_id"]
# The columns that an order has from other facts.
ORDER_DERIVED: Final = ["customer", "type", "session", "form", "utm"]


@dataclass(frozen=True)
class Versions:
    """The same rows before (`old`, as stored) and after (`new`)."""

    old: pd.DataFrame
    new: pd.DataFrame

    def of(self, ids: Column | pd.Index) -> "Versions":
        """The rows with these ids in their index, where there are any."""
        return Versions(*(rows[rows.index.isin(ids)] for rows in (self.old, self.new)))

    def plus(self, *parts: pd.DataFrame) -> "Versions":
        """With unchanged rows added. Rows that are there already, in either version, stay."""
        if not any(map(len, parts)):
            return self
        rows = unique_ids(*parts)
        rows = rows[~(rows.index.isin(self.old.index) | rows.index.isin(self.new.index))]
        return Versions(stack(self.old, rows), stack(self.new, rows))


@dataclass(frozen=True)
class CodeUsage:
    """How often facts name codes, and the discount that each code belongs to.

    - `codes`: edition, code; every code that the rows of the batches name in either version
    - `counts`: the new rows of code_usage of these codes
    - `discounts`: the new rows of dim_discount_code of these codes
    - `texts`: edition, id, text; of the discounts
    """

    codes: pd.DataFrame
    counts: pd.DataFrame
    discounts: pd.DataFrame
    texts: pd.DataFrame


@dataclass(frozen=True)
class Changes:
    """Old and new version of the facts that a group of import batches touches.

    - `sessions`: columns SESSION by session id, `orders`: columns ORDER by order id; all that were
      read, changed or not; `changed_sessions` and `changed_orders` are the ids of those that differ
      or have new events
    - `batch_sessions`: ids of the sessions that have events in the batches, and of those that have no event
      left
    - `order_ids`: the text order_id of the orders that have a version in the batches, tests left out
    - `steps`, `answers`: rows of fact_step and fact_answer of the sessions with events in the batches
    - `issues`, `order_codes`: rows of fact_code_issued and fact_order_code, complete for each session
      and order that has one here; of all whose rows differ
    - `code_usage`: see `CodeUsage`
    - `emails`, `step_names`, `utms`, `texts`: rows of fact_email, dim_step, dim_utm and dim_text
    """

    sessions: Versions
    orders: Versions
    changed_sessions: Column
    changed_orders: Column
    batch_sessions: Column
    order_ids: pd.DataFrame
    steps: Versions
    answers: Versions
    issues: Versions
    order_codes: Versions
    code_usage: CodeUsage
    emails: Versions
    step_names: Versions
    utms: pd.DataFrame
    texts: pd.DataFrame

    @property
    def batch_orders(self) -> Column:
        """Ids of the orders that have a version in the batches, and of those that became a test or have no
        version left."""
        gone = except_ids(self.changed_orders, self.orders.new.index.to_numpy())
        return sorted_unique(self.order_ids.index.to_numpy(), gone)

    @property
    def changed_outcomes(self) -> Column:
        """Ids of the sessions that changed, or to which a changed order is or was credited: an order may
        come at another instant with the same money."""
        orders = self.orders.of(self.changed_orders)
        credited = (orders.old["session"].to_numpy(), orders.new["session"].to_numpy())
        ids = sorted_unique(self.changed_sessions, *credited)
        return ids[ids != 0]

    @property
    def summed_sessions(self) -> Column:
        """Ids of the sessions that changed, or whose outcomes or discounts did."""
        issues = (self.issues.old["session"].to_numpy(), self.issues.new["session"].to_numpy())
        return sorted_unique(self.changed_outcomes, *issues)

    @property
    def summed_orders(self) -> Column:
        """Ids of the orders that changed, or whose discounts did."""
        codes = (self.order_codes.old["order"].to_numpy(), self.order_codes.new["order"].to_numpy())
        return sorted_unique(self.changed_orders, *codes)


def by_id(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rows with a column of ids as their index.

    Not by `set_index`, which makes a range of any two ids; the end of that may not fit into 64 bits.
    """
    return rows.set_axis(pd.Index(rows[name].to_numpy(), dtype="int64", name=name))


def without(stored: pd.DataFrame, keys: pd.DataFrame) -> Versions:
    """Stored rows before and after those with one of these keys (some of their columns) are taken out."""
    index = index_of_rows(*([rows[name].to_numpy() for name in keys] for rows in (keys, stored)))
    return Versions(stored, stored[index < 0])


def unique_ids(*rows: pd.DataFrame) -> pd.DataFrame:
    """All of these rows, each id of their index once."""
    joint = pd.concat(rows)
    return joint[~joint.index.duplicated()]


def stack(rows: pd.DataFrame, more: pd.DataFrame) -> pd.DataFrame:
    """Both, in the columns of the first."""
    return pd.concat([rows, more[rows.columns]]) if len(rows) else more[rows.columns]


def put(rows: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """The rows, with the new ones in place of those that have their ids."""
    return stack(rows[~rows.index.isin(new.index)], new)

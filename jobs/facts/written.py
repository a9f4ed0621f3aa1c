"""The facts that a batch changes, written in the order in which they become final.

Steps, answers and sessions are most of all rows, and known long before the orders' credit, the
discounts and the daily rows are.
"""

from collections.abc import Sequence

import pandas as pd

from jobs.codes import Column, ascending, minus
from jobs.columns import Source
from jobs.facts import store
from jobs.facts.discounts import Discounts
from jobs.facts.sessions import Children
from jobs.facts.working import CREDIT, DERIVED, Working, next_numbers, those
from jobs.writing import Writing
from warehouse import tables
from warehouse.bulk import Bulk
from warehouse.columns import Table

_SESSION = ["edition", "session"]
_ORDER = ["edition", "order"]


class FactWriter:
    """Tells a `Writing` what to write over a connection. What it is given may change afterwards."""

    def __init__(self, bulk: Bulk, writing: Writing) -> None:
        self._bulk, self._writing = bulk, writing
        # The derived values of the folded sessions, as they were written.
        self._written = pd.DataFrame()

    def save(self, table: Table, gone: pd.DataFrame, rows: pd.DataFrame) -> None:
        """See `store.save`."""
        self._writing.then(store.save, self._bulk, table, gone, rows)

    def learn(self, table: Table, rows: pd.DataFrame) -> None:
        """See `store.learn`."""
        self._writing.then(store.learn, self._bulk, table, rows)

    def _update(self, table: Table, rows: Source, columns: Sequence[str]) -> None:
        self._writing.then(store.update, self._bulk, table, rows, columns)

    def children(self, children: Children) -> None:
        """The steps and answers of the folded sessions."""
        self.save(tables.fact_step, children.old_steps[_SESSION], children.new_steps)
        self.save(tables.fact_answer, children.old_answers[_SESSION], children.new_answers)

    def folded(self, work: Working) -> None:
        """The folded sessions, which now need nothing more than the orders they are credited with."""
        ids = work.deciders.index
        rows = pd.concat([those(work.new_sessions, ids), work.deciders], axis="columns")
        self._written = rows[DERIVED]
        self.save(tables.fact_form_session, those(work.old_sessions, ids)[_SESSION], rows)
        given = minus(ids, work.old_sessions.index)
        self._update(tables.edition, next_numbers(given), ["next_session"])

    def sessions(self, work: Working, changed: Column) -> None:
        """What has become of `changed` sessions, and of the folded ones since they were written."""
        credited = those(work.new_sessions, self._written.index)[DERIVED]
        moved = (credited.to_numpy() != self._written.to_numpy()).any(axis=1)
        others = minus(changed, credited.index[~moved])
        self._update(tables.fact_form_session, those(work.new_sessions, others), DERIVED)

    def orders(self, work: Working, changed: Column) -> None:
        """The orders that the batch brought; of other `changed` ones their credit."""
        brought = work.order_ids.index
        # Those that are no more (tests) have but an old version.
        gone = ascending(brought, minus(changed, work.new_orders.index))
        rows = pd.concat([those(work.new_orders, brought), work.order_ids], axis="columns")
        self.save(tables.fact_order, those(work.old_orders, gone)[_ORDER], rows)
        others = minus(changed, gone)
        self._update(tables.fact_order, those(work.new_orders, others), CREDIT)

    def discounts(self, discounts: Discounts) -> None:
        """Issues, codes of orders, and which discount each code belongs to."""
        self.save(tables.fact_issue, discounts.old_issues[_SESSION], discounts.new_issues)
        self.save(tables.fact_order_code, discounts.old_codes[_ORDER], discounts.new_codes)
        self.save(tables.fact_code, discounts.gone, discounts.counts)
        self.save(tables.dim_code, discounts.gone, discounts.mapping)

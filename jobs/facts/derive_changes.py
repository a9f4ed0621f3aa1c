"""Derive what a group of import batches changes: START HERE to follow a change through the facts.

Everything was read before (`gather.py`); here frames become frames:

    partial sessions                    → sessions             sessions    (decides what is gathered)
    e-mails, customer ids               → customer keys        customers   (decides what is gathered)
    the earliest sessions of a visitor  → first sessions       first_sessions
    orders + candidate submissions      → credits              attribution
    credits                             → revenue of sessions  credited_revenue
    codes                               → discounts            discounts

The result has the old and the new version of every fact that changed.
"""

import numpy as np
import pandas as pd

from jobs.arrays.group_keys import Column, distinct_rows, sorted_unique
from jobs.facts.attribution import Candidates, credit
from jobs.facts.changes import ORDER, SESSION_DERIVED, Changes, Versions
from jobs.facts.credited_revenue import with_credited_revenue
from jobs.facts.discounts import discount_id_texts, with_discounts
from jobs.facts.first_sessions import pairs_of, with_first_sessions
from jobs.facts.gather import Gathered
from jobs.facts.orders import batch_orders
from jobs.facts.partials import Partials, merge_step_names
from jobs.facts.read_raw import unique_texts
from warehouse import tables
from warehouse.domain.time import NEVER
from warehouse.tables.base import is_text

_ORDER_NUMBERS = [name for name in ORDER if not is_text(tables.fact_order.c[name])]


def derive_changes(partials: Partials, gathered: Gathered, window_days: int) -> Changes:
    """The old and new version of all facts that the partial facts change."""
    batch = gathered.batch
    orders = Versions(gathered.orders.old, _credited(gathered, window_days))
    sessions = gathered.sessions.new
    pairs = pairs_of(batch.sessions.old, batch.sessions.new)
    sessions = with_first_sessions(sessions, pairs)
    sessions = with_credited_revenue(sessions, orders)
    versions = Versions(gathered.sessions.old, sessions)
    standing = batch_orders(partials.orders)
    changed_orders = _differing(orders, _ORDER_NUMBERS)
    replaced = sorted_unique(changed_orders, partials.orders["order"].to_numpy())
    issues = _with_discounts(_all_issues(gathered), gathered, "session", batch.ids)
    return Changes(
        sessions=versions,
        orders=orders.plus(gathered.other_orders),
        changed_sessions=sorted_unique(_differing(versions, SESSION_DERIVED), batch.ids),
        changed_orders=changed_orders,
        batch_sessions=batch.ids,
        order_ids=standing[["order_id"]],
        steps=batch.steps,
        answers=batch.answers,
        issues=issues,
        order_codes=_with_discounts(gathered.order_codes, gathered, "order", replaced),
        code_usage=gathered.code_usage,
        emails=gathered.resolution.emails,
        step_names=Versions(
            gathered.step_names.old,
            merge_step_names(
                pd.concat([gathered.step_names.new, partials.step_names], ignore_index=True)
            ),
        ),
        utms=partials.utms,
        texts=unique_texts(
            partials.texts, gathered.code_usage.texts, discount_id_texts(issues.new)
        ),
    )


def _credited(gathered: Gathered, window_days: int) -> pd.DataFrame:
    """The new version of the orders, with their credit."""
    orders, sessions = gathered.orders.new, gathered.sessions.new
    if orders.empty:
        return orders
    issues = _all_issues(gathered).new
    issues = issues[issues["code"] != 0]
    issued = distinct_rows({name: issues[name].to_numpy() for name in ("session", "code")})
    submissions = sessions[sessions["submitted_at"] != NEVER]
    candidates = Candidates(submissions, pd.DataFrame(issued))
    return orders.assign(
        **credit(
            orders.reset_index(drop=True), gathered.order_codes.new, candidates, window_days
        ).set_axis(orders.index)
    )


def _all_issues(gathered: Gathered) -> Versions:
    batch, others = gathered.batch.issues, gathered.issues
    return Versions(
        *(
            pd.concat([rows[others.columns], others], ignore_index=True)
            for rows in (batch.old, batch.new)
        )
    )


def _with_discounts(rows: Versions, gathered: Gathered, name: str, changed: Column) -> Versions:
    """Rows with their discount in the new version; of those whose session or order (`name`) is among
    `changed`, or has a row whose discount moves."""
    discounts = gathered.code_usage.discounts
    new = with_discounts(rows.new, discounts)
    moved = new.loc[new["discount"] != rows.new["discount"], name].to_numpy()
    ids = sorted_unique(changed, moved)
    old, new = (part[part[name].isin(ids)].reset_index(drop=True) for part in (rows.old, new))
    return Versions(old, new)


def _differing(rows: Versions, columns: list[str]) -> Column:
    """Ids of the rows that are new, gone, or different in one of these columns of numbers."""
    old, new = rows.old, rows.new
    index = new.index.get_indexer(old.index)
    kept = index >= 0
    ours, theirs = (part[columns].to_numpy(np.int64) for part in (old, new))
    moved = (ours[kept] != theirs[index[kept]]).any(axis=1)
    ids = old.index.to_numpy()
    arrived = new.index.to_numpy()[~new.index.isin(old.index)]
    return sorted_unique(ids[kept][moved], ids[~kept], arrived)

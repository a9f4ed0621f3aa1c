"""The facts that rollups sum, before and after a change, by the unit that a rollup sums them in: the changed
ones, and their neighbours, which are unchanged.

The difference of a rollup needs few of the facts of a unit (`Summary.unit`), however many it has.

    visits     A row of `visitor` links two active days of a (visitor, form) with no other between them. So a
               change moves links between unchanged days next to it alone, and days do not decrease with
               instants: the nearest sessions before and after each changed instant are enough, and the
               visitor's first session, the only one of its type. Purchasers' links are by delay too: where
               a purchase changes, all purchases of the pair are read.
    customers  The rows of a customer begin with the first submission to a form, or with an answer. Sums over
               orders move by what changed, but for a first submission that does: from there on all orders
               are read. Whether a customer ordered once or twice, the last two orders say.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from jobs.arrays.columns import those
from jobs.arrays.group_keys import Column, distinct_rows, except_ids, index_of
from jobs.facts import fact_table_io
from jobs.facts.calendar import Calendar, chosen_values
from jobs.facts.changes import Changes, Versions, stack, unique_ids
from jobs.facts.credits import changed_submissions
from jobs.facts.customers import changed_customers
from jobs.facts.fact_table_io import (
    is_staged,
    key_columns,
    load_orders,
    load_sessions,
    stage_ids,
)
from jobs.facts.facts import Facts
from jobs.facts.sessions import PAIR, SAME_PAIR, in_pairs, pairs_of
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import NEVER

_MOVED: Final = "staged_moved"
_CHANGED: Final = "staged_changed"
_CHANGED_ORDERS: Final = "staged_changed_orders"
_CUSTOMERS: Final = "staged_customers"
_SUBMISSIONS: Final = f"""
FROM {_CUSTOMERS} k CROSS JOIN fact_form_session f{{}} WHERE f.edition = k.edition
AND f.customer = k.customer AND f.customer <> 0 AND f.submitted_at < {NEVER}
AND NOT {is_staged(_CHANGED, "f.session")}
"""
# When the customers first submitted each form, and each answer.
_FIRST: Final = f"""
SELECT DISTINCT q.edition, q.customer, q.submitted_at FROM (
SELECT f.edition, f.customer, MIN(f.submitted_at) AS submitted_at {_SUBMISSIONS.format("")}
GROUP BY f.edition, f.customer, f.form
UNION ALL
SELECT f.edition, f.customer, MIN(f.submitted_at) {_SUBMISSIONS.format(" CROSS JOIN fact_answer a")}
AND a.edition = f.edition AND a.session = f.session GROUP BY f.edition, f.customer, a.field, a.value
) q
"""
_LAST_TWO_ORDERS: Final = (
    "f.created_at >= COALESCE((SELECT n.created_at FROM fact_order n WHERE n.edition = k.edition "
    "AND n.customer = k.customer AND n.customer <> 0 "
    f"""AND NOT {is_staged(_CHANGED_ORDERS, 'n."order"')} """
    f"ORDER BY n.created_at DESC LIMIT 1 OFFSET 1), {-NEVER})"
)
_NO_IDS: Final = np.empty(0, np.int64)
NO_EVENTS: Final = pd.DataFrame(dict.fromkeys(("edition", "form", "at"), _NO_IDS))
_INSTANTS: Final = ("viewed_at", "submitted_at")


@dataclass(frozen=True)
class UnitFacts:
    """The facts of the same units before and after."""

    old: Facts
    new: Facts


@dataclass(frozen=True)
class _Rows:
    """Changed facts, with the unchanged ones that rollups sum together with them.

    - `sessions`: columns SESSION by session id; with those next to the changed sessions of a (visitor, form),
      its purchases, and the first submissions of the customers of whom a submission or an order changed
    - `orders`: columns ORDER by order id; with orders of these customers, and all that are credited to these
      purchases and to the sessions that rollups sum
    - `unchanged`: the chosen values (`Facts.answers`) of all submissions that are not touched
    - `steps`: of the sessions that became their visitor's first, or no longer are, and are not touched
    """

    changes: Changes
    calendar: Calendar
    sessions: Versions
    orders: Versions
    unchanged: pd.DataFrame
    steps: pd.DataFrame


def units_of(
    connection: ArrowConnection,
    changes: Changes,
    calendar: Calendar,
    events: pd.DataFrame = NO_EVENTS,
) -> dict[str, UnitFacts]:
    """Facts of every unit in which something changed, by the kind of unit (`Summary.unit`). Leaves a
    transaction open.

    `events`: edition, form, at; a row per raw event that is new to its edition.
    """
    customers = changed_customers(changes)
    rows = _with_neighbours(connection, changes, calendar, customers)
    changed = changes.sessions.of(changes.changed_outcomes)
    pairs = pairs_of(changed.old, changed.new)
    ids = pd.Index(customers["customer"])
    new = _of_version(rows, "new", events, pairs, ids)
    if changes.are_first:
        old = {unit: facts.only() for unit, facts in new.items()}
    else:
        old = _of_version(rows, "old", NO_EVENTS, pairs, ids)
    return {unit: UnitFacts(old[unit], new[unit]) for unit in new}


def _of_version(
    rows: _Rows,
    version: str,
    events: pd.DataFrame,
    pairs: Mapping[str, Column],
    customers: pd.Index,
) -> dict[str, Facts]:
    """The facts of one version, by the kind of unit. Each is worked out once, and most are in several.

    - facts: the sessions that changed, or whose outcomes or discounts did, with all orders that are credited
      to them; the orders that changed, or whose discounts did; the events
    - visits: the sessions, with their orders, that make the difference of every (visitor, form) with a
      changed session or outcome, before or after (`pairs`)
    - customers: the submissions and orders that make the difference of every customer who has a changed one
    """
    changes, calendar = rows.changes, rows.calendar
    sessions, orders = getattr(rows.sessions, version), getattr(rows.orders, version)
    session_columns, order_columns = calendar.sessions(sessions), calendar.orders(orders)
    answers = chosen_values(getattr(changes.answers, version))
    # Answers and steps of sessions that are not touched are the same in both versions.
    answers = stack(answers, rows.unchanged)
    steps = stack(getattr(changes.steps, version), rows.steps)
    ids = changes.sessions_to_roll_up
    is_own = sessions.index.isin(ids)
    is_credited = orders["session"].isin(sessions.index[is_own])
    issues = getattr(changes.issues, version)
    facts = Facts(
        sessions=those(session_columns, is_own),
        steps=calendar.steps(those(steps, steps["session"].isin(ids))),
        answers=those(answers, answers["session"].isin(ids)),
        issues=those(issues, issues["session"].isin(ids)),
        orders=those(order_columns, is_credited | orders.index.isin(changes.orders_to_roll_up)),
        order_codes=getattr(changes.order_codes, version),
        events=calendar.events(events),
        quarters=calendar.quarters(those(sessions, is_own)),
    )
    is_visit = in_pairs(sessions, pairs)
    is_credited = orders["session"].isin(sessions.index[is_visit])
    is_customers = sessions["customer"].isin(customers) & (sessions["submitted_at"] != NEVER)
    is_answer = answers["session"].isin(sessions.index[is_customers])
    return {
        "facts": facts,
        "visits": facts.only(
            sessions=those(session_columns, is_visit), orders=those(order_columns, is_credited)
        ),
        "customers": facts.only(
            sessions=those(session_columns, is_customers),
            answers=those(answers, is_answer),
            orders=those(order_columns, orders["customer"].isin(customers)),
        ),
    }


def _with_neighbours(
    connection: ArrowConnection,
    changes: Changes,
    calendar: Calendar,
    customers: Mapping[str, Column],
) -> _Rows:
    """Changes with their neighbours. `customers`: those who have a changed submission or order, or had."""
    if changes.are_first:
        none = {"unchanged": chosen_values(changes.answers.old), "steps": changes.steps.old}
        return _Rows(changes, calendar, changes.sessions, changes.orders, **none)
    summed = changes.sessions.of(changes.sessions_to_roll_up)
    changed = changes.sessions.of(changes.changed_sessions)
    stage_ids(connection, _CHANGED, changed.old.index.to_numpy())
    changed_orders = changes.orders.of(changes.changed_orders)
    stage_ids(connection, _CHANGED_ORDERS, changed_orders.old.index.to_numpy())
    purchases = _purchases(connection, changes)
    # A pair has stored sessions if its first one was gathered.
    stored = pairs_of(changes.sessions.old)
    visited = Versions(*(rows[in_pairs(rows, stored)] for rows in (changed.old, changed.new)))
    visits = unique_ids(purchases, *(_nearest(connection, visited, at) for at in _INSTANTS))
    # The unchanged submissions by which these customers first submitted a form, or an answer.
    connection.stage(_CUSTOMERS, fact_table_io.to_arrow(customers, ["edition", "customer"]))
    instants = connection.rows_of(tables.fact_form_session, _FIRST).to_pandas()
    first = load_sessions(connection, {name: instants[name].to_numpy() for name in instants})
    answered = unique_ids(
        *(
            rows[(rows["submitted_at"] != NEVER) & ~rows.index.isin(changes.touched)]
            for rows in (first, summed.new)
        )
    )
    credited = unique_ids(summed.old[summed.old["submitted_at"] != NEVER], purchases)
    answers = fact_table_io.load(connection, tables.fact_answer, key_columns(answered, "session"))
    moved = _of_another_visit(
        changes.sessions.of(except_ids(changes.changed_sessions, changes.touched))
    )
    steps = fact_table_io.load(connection, tables.fact_step, key_columns(moved, "session"))
    return _Rows(
        changes=changes,
        calendar=calendar,
        sessions=changes.sessions.plus(visits, first),
        # Changed orders may be among those read, in their stored version: they stay as they are.
        orders=changes.orders.plus(
            load_orders(connection, customers, _LAST_TWO_ORDERS),
            load_orders(connection, _since_changed(changes), 'f.created_at >= k."low"'),
            load_orders(connection, key_columns(credited, "session")),
        ),
        unchanged=chosen_values(answers),
        steps=steps,
    )


def _of_another_visit(sessions: Versions) -> pd.DataFrame:
    """Sessions that are the first of a visitor in one version alone. They are the same in both otherwise."""
    first = sessions.old["is_first_session"].reindex(sessions.new.index)
    return sessions.new[sessions.new["is_first_session"] != first]


def _since_changed(changes: Changes) -> pd.DataFrame:
    """Instants from which on orders of a customer may count from another first submission: edition, customer,
    low."""
    ids = np.intersect1d(changes.touched, changes.changed_sessions)
    changed = changed_submissions(changes.sessions, ids)
    rows = stack(changed.old, changed.new)
    low = rows[rows["customer"] != 0].groupby(["edition", "customer"])["submitted_at"].min()
    return low.rename("low").reset_index()


def _purchases(connection: ArrowConnection, changes: Changes) -> pd.DataFrame:
    """The submissions that orders are credited to, of every (visitor, form) that has a changed one."""
    changed = changes.sessions.of(changes.changed_outcomes)
    bought = pairs_of(*(rows[rows["orders"] != 0] for rows in (changed.old, changed.new)))
    return load_sessions(connection, bought, "f.orders <> 0")


def _nearest(connection: ArrowConnection, changed: Versions, at: str) -> pd.DataFrame:
    """The unchanged sessions nearest to the changed instants `at` of their visitor and form, before and
    after. Neither reaches beyond the next changed instant, so that each changed session is passed once. A
    first session is not among them: it was gathered to derive which one it is."""
    # But for those that are the same in both versions: of the same visitor and form, with the same instant.
    old, new = (rows[rows[at] != NEVER] for rows in (changed.old, changed.new))
    index = index_of(new.index.to_numpy(), old.index.to_numpy())
    ours, theirs = old[index >= 0], new.iloc[index[index >= 0]]
    same = np.logical_and.reduce(
        [
            ours[name].to_numpy() == theirs[name].to_numpy()
            for name in (*PAIR, "is_first_session", at)
        ]
    )
    old, new = (rows[~rows.index.isin(ours.index[same])] for rows in (old, new))
    stage_ids(connection, _MOVED, old.index.to_numpy())
    others = (
        f"SELECT n.session FROM {SAME_PAIR} AND n.is_first_session = 0 AND n.{at} <> {NEVER} "
        f"AND NOT {is_staged(_MOVED, 'n.session')}"
    )
    nearest = (
        f'f.session IN (({others} AND n.{at} BETWEEN k."low" AND k."at" ORDER BY n.{at} DESC LIMIT 1), '
        f'({others} AND n.{at} BETWEEN k."at" AND k."high" ORDER BY n.{at} LIMIT 1))'
    )
    return load_sessions(connection, _spans(old, new, at=at), nearest, equal=["edition"])


def _spans(*sessions: pd.DataFrame, at: str) -> dict[str, Column]:
    """The distinct instants of each (visitor, form), with the one before and the one after: edition, visitor,
    form, low, at, high."""
    names = [*PAIR, at]
    rows = distinct_rows(
        {name: np.concatenate([part[name].to_numpy() for part in sessions]) for name in names}
    )
    order = np.lexsort([rows[name] for name in reversed(names)])
    rows = {name: column[order] for name, column in rows.items()}
    instants = rows.pop(at)
    same = np.logical_and.reduce([column[1:] == column[:-1] for column in rows.values()])
    low, high = np.full(len(instants), -NEVER), np.full(len(instants), NEVER)
    low[1:][same], high[:-1][same] = instants[:-1][same], instants[1:][same]
    return {**rows, "low": low, "at": instants, "high": high}

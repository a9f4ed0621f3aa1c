"""One batch, from raw rows to all that changes with it: START HERE to follow a change through.

    events  → partial sessions → folded into the stored ones          fold, merge, sessions
    orders  → the standing version of each                            orders
    e-mails → customer keys of everything that has only an e-mail     customers
    visitors → which session is a visitor's first with its form       visitors
    sessions and orders → who is credited with what                   reopen, attribution, outcomes
    codes   → which discount each belongs to                          discounts

What each change re-opens is in the module that derives it. The result holds the old and the new
version of all facts that moved; what is done with it (daily rows, writing) is the pipeline's part.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from jobs.codes import minus
from jobs.columns import without
from jobs.facts import store
from jobs.facts.customers import resolve_customers
from jobs.facts.discounts import Discounts, resolve_discounts
from jobs.facts.fold import Partials, latest_step_names
from jobs.facts.frames import Facts
from jobs.facts.orders import place_orders
from jobs.facts.raw import Words
from jobs.facts.reopen import credit_orders
from jobs.facts.sessions import Children, fold_sessions
from jobs.facts.slices import Calendar, Cut, chosen
from jobs.facts.visitors import mark_fresh, members, pairs_of
from jobs.facts.working import Working, those
from jobs.facts.written import FactWriter
from warehouse import tables
from warehouse.bulk import Bulk
from warehouse.days import NEVER


@dataclass
class Refresh:
    """What a batch changes. `cuts` by the unit of the rollups: facts, visits, customers."""

    work: Working
    children: Children
    discounts: Discounts
    emails: pd.DataFrame
    step_names: pd.DataFrame
    utms: pd.DataFrame
    words: Words
    folded: np.ndarray
    sessions: np.ndarray
    orders: np.ndarray
    cuts: dict[str, Cut]


def refresh(
    bulk: Bulk,
    partials: Partials,
    orders: pd.DataFrame,
    utms: pd.DataFrame,
    words: Words,
    calendar: Calendar,
    window_days: int,
    *,
    writer: FactWriter | None = None,
    afresh: bool = False,
) -> Refresh:
    """Work out what partial sessions and standing orders change, beside what is stored.

    A `writer` is told of facts as soon as they are final; its connection must not be the `bulk`
    that is read from. `afresh`: the partial sessions are of all their events, and take the place of
    what is stored.
    """
    work = Working(bulk)
    folded, children = fold_sessions(work, partials, afresh=afresh)
    if writer:
        writer.children(children)
    placed_codes = place_orders(work, orders, words)
    placed = pd.Index(orders["order"])
    emails = resolve_customers(work, partials.emails, folded, placed)
    mark_fresh(work, folded)
    if writer:
        writer.folded(work)
    credit_orders(work, children, placed, placed_codes, folded, window_days)
    discounts = resolve_discounts(work, children, placed, placed_codes, words)
    changed = work.changed_sessions(folded)
    changed_orders = work.changed_orders()
    result = Refresh(
        work=work,
        children=children,
        discounts=discounts,
        emails=emails,
        step_names=_step_names(bulk, partials),
        utms=utms,
        words=words,
        folded=folded,
        sessions=changed,
        orders=changed_orders,
        cuts={},
    )
    result.cuts["facts"] = _facts(result, calendar)
    result.cuts["visits"] = _visits(result, calendar)
    result.cuts["customers"] = _customers(result, calendar)
    return result


def _step_names(bulk: Bulk, partials: Partials) -> pd.DataFrame:
    names = partials.step_names
    stored = store.load(bulk, tables.dim_step, names[["edition", "form", "step"]])
    return (
        latest_step_names(pd.concat([stored, names], ignore_index=True)) if len(stored) else names
    )


def _answers(result: Refresh, sessions: pd.DataFrame) -> pd.DataFrame:
    """The stored answers of sessions that have no new events; old and new alike."""
    others = sessions.loc[~sessions["session"].isin(result.folded), ["edition", "session"]]
    others = others.reset_index(drop=True).drop_duplicates()
    return chosen(store.load(result.work.bulk, tables.fact_answer, others))


def _facts(result: Refresh, calendar: Calendar) -> Cut:
    """The sessions and orders that changed, and those whose discount did."""
    work, children, discounts = result.work, result.children, result.discounts
    issued = pd.concat(
        [discounts.old_issues["session"], discounts.new_issues["session"]], ignore_index=True
    )
    ids = pd.Index(result.sessions).union(pd.Index(issued.unique()))
    used = pd.concat(
        [discounts.old_codes["order"], discounts.new_codes["order"]], ignore_index=True
    )
    orders = pd.Index(result.orders).union(pd.Index(used.unique()))
    new = those(work.new_sessions, ids)
    kept = _answers(result, new[new["submitted_at"] != NEVER])

    def facts(
        sessions: pd.DataFrame,
        steps: pd.DataFrame,
        answers: pd.DataFrame,
        issues: pd.DataFrame,
        some_orders: pd.DataFrame,
        codes: pd.DataFrame,
    ) -> Facts:
        return Facts(
            sessions=calendar.sessions(sessions),
            steps=calendar.steps(steps),
            answers=pd.concat([chosen(answers, result.words), kept], ignore_index=True),
            issues=issues,
            orders=calendar.orders(some_orders),
            order_codes=codes,
        )

    return Cut(
        old=facts(
            those(work.old_sessions, ids),
            children.old_steps,
            children.old_answers,
            discounts.old_issues,
            those(work.old_orders, orders),
            discounts.old_codes,
        ),
        new=facts(
            new,
            children.new_steps,
            children.new_answers,
            discounts.new_issues,
            those(work.new_orders, orders),
            discounts.new_codes,
        ),
    )


def _visits(result: Refresh, calendar: Calendar) -> Cut:
    """All sessions of every (form, visitor) that a changed session belongs or belonged to."""
    work = result.work
    pairs = pairs_of(work, result.sessions)
    # Those of the folded sessions were brought in to see which session is the first.
    work.load_sessions(pairs_of(work, minus(result.sessions, result.folded)))
    empty = result.cuts["facts"].old

    def facts(sessions: pd.DataFrame) -> Facts:
        rows = calendar.sessions(members(sessions, pairs))
        none = {
            name: getattr(empty, name).iloc[:0]
            for name in ("steps", "answers", "issues", "order_codes")
        }
        return Facts(sessions=rows, orders=without(empty.orders), **none)

    return Cut(old=facts(work.old_sessions), new=facts(work.new_sessions))


def _customers(result: Refresh, calendar: Calendar) -> Cut:
    """All submissions and orders of every customer whose submissions or orders changed."""
    work, children = result.work, result.children
    keys = pd.concat(
        [
            *(
                those(f, result.sessions).loc[
                    lambda r: r["submitted_at"] != NEVER, ["edition", "customer"]
                ]
                for f in (work.old_sessions, work.new_sessions)
            ),
            *(
                those(f, result.orders)[["edition", "customer"]]
                for f in (work.old_orders, work.new_orders)
            ),
        ],
        ignore_index=True,
    ).drop_duplicates()
    keys = keys[keys["customer"] != 0]
    work.load_sessions(keys, f"f.submitted_at <> {NEVER}")
    work.load_orders(keys)
    customers = pd.Index(keys["customer"])

    def submissions(sessions: pd.DataFrame) -> pd.DataFrame:
        return sessions[sessions["customer"].isin(customers) & (sessions["submitted_at"] != NEVER)]

    old, new = submissions(work.old_sessions), submissions(work.new_sessions)
    kept = _answers(result, pd.concat([old, new], ignore_index=True))

    def facts(sessions: pd.DataFrame, answers: pd.DataFrame, orders: pd.DataFrame) -> Facts:
        empty = result.cuts["facts"].old
        told = pd.concat([chosen(answers), kept], ignore_index=True)
        return Facts(
            sessions=calendar.sessions(sessions),
            steps=empty.steps.iloc[:0],
            answers=told[told["session"].isin(sessions.index)],
            issues=empty.issues.iloc[:0],
            orders=calendar.orders(orders[orders["customer"].isin(customers)]),
            order_codes=empty.order_codes.iloc[:0],
        )

    return Cut(
        old=facts(old, children.old_answers, work.old_orders),
        new=facts(new, children.new_answers, work.new_orders),
    )

"""Stored facts of a range of days, whole in every unit that a rollup of these days must see."""

import pandas as pd

from jobs.columns import Source, without
from jobs.facts import store
from jobs.facts.frames import Facts
from jobs.facts.raw import column_ids
from jobs.facts.slices import Calendar, chosen
from jobs.facts.visitors import PAIR
from warehouse import tables
from warehouse.bulk import Bulk
from warehouse.days import NEVER
from warehouse.queue import taken_in

_MILESTONES = ("viewed_at", "started_at", "subscribed_at", "completed_at")
_KEY = ["edition", "session"]


def stored_facts(
    bulk: Bulk, calendar: Calendar, edition: int, start: int, end: int
) -> dict[str, Facts]:
    """By unit, the facts that the daily rows of the instants `start` <= t < `end` are made of (and
    some of other days, where a unit reaches beyond)."""
    span = pd.DataFrame({"edition": [edition], "low": [start], "high": [end - 1]})

    def within(*names: str) -> str:
        return "(" + " OR ".join(f'f.{name} BETWEEN k."low" AND k."high"' for name in names) + ")"

    steps = store.load(bulk, tables.fact_step, span, within("viewed_at"))
    sessions = pd.concat(
        [
            store.load(bulk, tables.fact_form_session, span, within(*_MILESTONES)),
            store.load(bulk, tables.fact_form_session, steps[_KEY].drop_duplicates()),
        ],
        ignore_index=True,
    ).drop_duplicates("session")
    orders = store.load(bulk, tables.fact_order, span, within("created_at"))
    # A session's last step decides where it dropped off, whatever the day of the others.
    steps = store.load(bulk, tables.fact_step, sessions[_KEY])
    submitted = sessions[sessions["submitted_at"] != NEVER]
    facts = Facts(
        sessions=calendar.sessions(sessions),
        steps=calendar.steps(steps),
        answers=chosen(store.load(bulk, tables.fact_answer, submitted[_KEY])),
        issues=store.load(bulk, tables.fact_issue, submitted[_KEY]),
        orders=calendar.orders(orders),
        order_codes=store.load(bulk, tables.fact_order_code, orders[["edition", "order"]]),
    )
    pairs = sessions[PAIR].drop_duplicates()
    visits = store.load(bulk, tables.fact_form_session, pairs)
    customers = submitted.loc[submitted["customer"] != 0, ["edition", "customer"]]
    return {
        "facts": facts,
        "visits": _only(facts, calendar.sessions(visits)),
        "customers": _customers(bulk, calendar, facts, customers.drop_duplicates()),
    }


def _only(facts: Facts, sessions: Source) -> Facts:
    return Facts(
        sessions=sessions,
        steps=facts.steps.iloc[:0],
        answers=facts.answers.iloc[:0],
        issues=facts.issues.iloc[:0],
        orders=without(facts.orders),
        order_codes=facts.order_codes.iloc[:0],
    )


def _customers(bulk: Bulk, calendar: Calendar, facts: Facts, keys: pd.DataFrame) -> Facts:
    sessions = store.load(bulk, tables.fact_form_session, keys, f"f.submitted_at <> {NEVER}")
    return Facts(
        sessions=calendar.sessions(sessions),
        steps=facts.steps.iloc[:0],
        answers=chosen(store.load(bulk, tables.fact_answer, sessions[_KEY])),
        issues=facts.issues.iloc[:0],
        orders=calendar.orders(store.load(bulk, tables.fact_order, keys)),
        order_codes=facts.order_codes.iloc[:0],
    )


def raw_seen(
    bulk: Bulk, calendar: Calendar, edition: int, shop_key: int, start: int, end: int
) -> pd.DataFrame:
    """Edition, day and form of every raw event of these instants that the edition has taken in."""
    rows = bulk.rows_of(
        tables.raw_event,
        f"SELECT form_id, occurred_at FROM raw_event WHERE shop_key = {shop_key} "
        f"AND {taken_in(edition)} AND occurred_at >= {start} AND occurred_at < {end}",
    )
    frame = pd.DataFrame(
        {"form": column_ids(rows["form_id"]), "at": rows["occurred_at"].to_numpy()}
    )
    frame.insert(0, "edition", edition)
    return frame.assign(day=calendar.days(frame["edition"].to_numpy(), frame["at"].to_numpy()))

"""The facts that rollups sum, before and after a change, by the unit that a rollup sums them in."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from jobs.arrays.group_keys import Column
from jobs.facts.calendar import Calendar, chosen_values
from jobs.facts.changes import Changes, Versions
from jobs.facts.customers import changed_customers
from jobs.facts.facts import Facts
from jobs.facts.first_sessions import in_pairs, pairs_of
from jobs.facts.neighbours import Neighbours
from warehouse.domain.time import NEVER

_NO_IDS: Final = np.empty(0, np.int64)


@dataclass(frozen=True)
class UnitFacts:
    """The facts of the same units before and after."""

    old: Facts
    new: Facts


def facts_by_unit(
    changes: Changes, neighbours: Neighbours, calendar: Calendar, events: Versions
) -> dict[str, UnitFacts]:
    """By unit (`Summary.unit`), the facts of every unit in which something changed. `events`: those that are
    removed, and those that are new (edition, form, at)."""
    facts = _single_facts(changes, neighbours, calendar, events)
    return {
        "facts": facts,
        "visits": _visits(changes, neighbours, calendar, facts.old),
        "customers": _customers(changes, neighbours, calendar, facts.old),
    }


def _single_facts(
    changes: Changes, neighbours: Neighbours, calendar: Calendar, events: Versions
) -> UnitFacts:
    """The sessions that changed, or whose outcomes or discounts did, with all orders that are credited to
    them; the orders that changed, or whose discounts did; the events."""
    sessions = changes.sessions.of(changes.summed_sessions)
    orders = _orders_of(changes, neighbours, sessions, changes.summed_orders)
    others = neighbours.answers[neighbours.answers["session"].isin(sessions.new.index)]
    # Answers of sessions without new events are the same in both versions.
    unchanged = chosen_values(others)

    def facts(version: str) -> Facts:
        answers = chosen_values(getattr(changes.answers, version))
        return Facts(
            sessions=calendar.sessions(getattr(sessions, version)),
            steps=calendar.steps(getattr(changes.steps, version)),
            answers=pd.concat([answers, unchanged], ignore_index=True),
            issues=getattr(changes.issues, version),
            orders=calendar.orders(getattr(orders, version)),
            order_codes=getattr(changes.order_codes, version),
            events=calendar.events(getattr(events, version)),
        )

    return UnitFacts(facts("old"), facts("new"))


def _visits(
    changes: Changes, neighbours: Neighbours, calendar: Calendar, template: Facts
) -> UnitFacts:
    """The sessions, with their orders, that make the difference of every (visitor, form) that a session
    belongs or belonged to which changed, or whose outcome did."""
    changed = changes.sessions.of(changes.changed_outcomes)
    pairs = pairs_of(changed.old, changed.new)
    visits = changes.sessions.plus(neighbours.sessions)
    visits = Versions(*(rows[in_pairs(rows, pairs)] for rows in (visits.old, visits.new)))
    orders = _orders_of(changes, neighbours, visits)
    return UnitFacts(
        *(
            template.only(sessions=calendar.sessions(sessions), orders=calendar.orders(credited))
            for sessions, credited in ((visits.old, orders.old), (visits.new, orders.new))
        )
    )


def _orders_of(
    changes: Changes, neighbours: Neighbours, sessions: Versions, ids: Column = _NO_IDS
) -> Versions:
    """The orders that are credited to one of the sessions, and those with these ids."""
    orders = changes.orders.plus(neighbours.orders)
    return Versions(
        *(
            rows[rows["session"].isin(of.index) | rows.index.isin(ids)]
            for rows, of in ((orders.old, sessions.old), (orders.new, sessions.new))
        )
    )


def _customers(
    changes: Changes, neighbours: Neighbours, calendar: Calendar, template: Facts
) -> UnitFacts:
    """The submissions and orders that make the difference of every customer who has a changed one."""
    customers = pd.Index(changed_customers(changes)["customer"])
    sessions = changes.sessions.plus(neighbours.sessions)
    orders = changes.orders.plus(neighbours.orders)
    unchanged = chosen_values(neighbours.answers)

    def facts(sessions: pd.DataFrame, orders: pd.DataFrame, answers: pd.DataFrame) -> Facts:
        rows = sessions[sessions["customer"].isin(customers) & (sessions["submitted_at"] != NEVER)]
        values = pd.concat([chosen_values(answers), unchanged], ignore_index=True)
        return template.only(
            sessions=calendar.sessions(rows),
            answers=values[values["session"].isin(rows.index)],
            orders=calendar.orders(orders[orders["customer"].isin(customers)]),
        )

    return UnitFacts(
        facts(sessions.old, orders.old, changes.answers.old),
        facts(sessions.new, orders.new, changes.answers.new),
    )

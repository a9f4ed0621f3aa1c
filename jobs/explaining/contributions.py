"""The part of each fact in the daily rows of a day.

A rollup is linear in its units (`Summary.unit`), and sums by edition. So the facts of each unit are given a
number of their own in the place of the edition: then one call says what each of them adds, of any summary.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from jobs.arrays.columns import Columns, int_column
from jobs.arrays.group_keys import Column, index_of
from jobs.facts import day_facts
from jobs.facts.facts import Facts
from jobs.facts.sessions import PAIR
from jobs.pipeline.derive import calendar_of
from jobs.rollups import roll_up
from warehouse.catalogue import Summary
from warehouse.connections.arrow import ArrowConnection
from warehouse.editions.editions import Edition

EVENTS = 0
"""The number of the unit of all raw events of the day: no form session is in them."""


@dataclass(frozen=True)
class Contributions:
    """The shares of units in daily rows. `rows` have the columns of the summary's daily rows, in which
    `edition` is the number of a unit; `sessions` and `orders` are those of each unit, by this number."""

    summary: Summary
    rows: pd.DataFrame
    sessions: dict[int, list[int]]
    orders: dict[int, list[int]]


def contributions(
    connection: ArrowConnection, edition: Edition, day: int, summaries: Collection[Summary]
) -> list[Contributions]:
    """The share of each unit in the rows of a day, by summary. Leaves a transaction open."""
    days = {edition: [day]}
    day_facts.stage(connection, days)
    found = {summary.name: Contributions(summary, pd.DataFrame(), {}, {}) for summary in summaries}
    parts: dict[str, list[pd.DataFrame]] = {summary.name: [] for summary in summaries}
    wanted = {summary.unit for summary in summaries}
    seen: set[str] = set()
    for unit, facts in day_facts.stored_facts(
        connection,
        calendar_of(connection, [edition]),
        {edition.shop_key: edition.edition},
        day_facts.spans(connection, days),
    ):
        if unit not in wanted:
            if wanted <= seen:
                break
            continue
        seen.add(unit)
        numbered = _numbered(unit, facts)
        sessions = _by_unit(numbered.sessions, "session")
        orders = _by_unit(numbered.orders, "order")
        for summary in summaries:
            if summary.unit == unit:
                for (columns,) in roll_up(summary.name, numbered):
                    rows = pd.DataFrame(columns)
                    is_counted = (rows["day"] == day) & (rows[list(summary.measures)] != 0).any(
                        axis="columns"
                    )
                    parts[summary.name].append(rows[is_counted])
                    found[summary.name].sessions.update(sessions)
                    found[summary.name].orders.update(orders)
    return [
        replace(one, rows=pd.concat(parts[name], ignore_index=True)) for name, one in found.items()
    ]


def _by_unit(rows: Columns, id: str) -> dict[int, list[int]]:
    frame = pd.DataFrame({"unit": int_column(rows, "edition"), "id": int_column(rows, id)})
    return {int(unit): own.tolist() for unit, own in frame.groupby("unit")["id"]}


def _numbered(unit: str, facts: Facts) -> Facts:
    """The facts with the number of their unit as their edition: that of a form session or order, of the first
    session of a visitor with a form, or of the customer."""
    ids = int_column(facts.sessions, "session")
    if unit == "customers":
        own = int_column(facts.sessions, "customer")
        of_orders = int_column(facts.orders, "customer")
    else:
        own = ids
        if unit != "facts":
            pairs = {name: int_column(facts.sessions, name) for name in PAIR}
            frame = pd.DataFrame(pairs | {"session": ids})
            own = frame.groupby(list(PAIR))["session"].transform("min").to_numpy()
        of_orders = _of(
            ids, own, int_column(facts.orders, "session"), int_column(facts.orders, "order")
        )

    def by_session(rows: pd.DataFrame) -> pd.DataFrame:
        sessions = int_column(rows, "session")
        return rows.assign(edition=_of(ids, own, sessions, sessions))

    codes = int_column(facts.order_codes, "order")
    of_quarters = int_column(facts.quarters, "session")
    of_codes = _of(int_column(facts.orders, "order"), of_orders, codes, codes)
    return replace(
        facts,
        sessions=_with_edition(facts.sessions, own),
        steps=by_session(facts.steps),
        answers=by_session(facts.answers),
        issues=by_session(facts.issues),
        orders=_with_edition(facts.orders, of_orders),
        order_codes=facts.order_codes.assign(edition=of_codes),
        events=_with_edition(
            facts.events, np.full_like(int_column(facts.events, "edition"), EVENTS)
        ),
        quarters=_with_edition(facts.quarters, _of(ids, own, of_quarters, of_quarters)),
    )


def _of(ids: Column, numbers: Column, wanted: Column, others: Column) -> Column:
    """Look up the number of each wanted id; an id that has none gets the one in `others`."""
    index = index_of(ids, wanted)
    return np.where(index >= 0, np.append(numbers, 0)[index], others)


def _with_edition(rows: Columns, numbers: Column) -> Any:
    if isinstance(rows, pd.DataFrame):
        return rows.assign(edition=numbers)
    return {**rows, "edition": numbers}

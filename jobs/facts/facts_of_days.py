"""Stored facts of a range of days, whole in every unit that a rollup of these days must see."""

from collections.abc import Mapping
from typing import Final

import numpy as np
import pandas as pd

from jobs.facts import days_of_raw, kept_facts_io
from jobs.facts.calendar import Calendar, chosen_values
from jobs.facts.fact_table_io import load
from jobs.facts.facts import Facts
from jobs.facts.first_sessions import PAIR
from jobs.facts.form_rules import counted, rules_of
from jobs.facts.read_raw import form_ids
from warehouse import tables
from warehouse.catalogue import MILESTONES
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import NEVER

_SESSION: Final = ["edition", "session"]


def stored_facts(
    connection: ArrowConnection,
    calendar: Calendar,
    editions: Mapping[int, int],
    spans: pd.DataFrame,
) -> dict[str, Facts]:
    """By unit (`Summary.unit`), the stored facts that the daily rows of some spans of days are sums of.
    Where a unit reaches beyond, facts of other days are among them.

    `editions`: the edition of each shop key; `spans`: those staged (`days_of_raw.stage`).
    """
    span = spans[["edition", "low", "high"]]

    def within(*names: str) -> str:
        return "(" + " OR ".join(f'f.{name} BETWEEN k."low" AND k."high"' for name in names) + ")"

    session, answer = tables.fact_form_session, tables.fact_answer
    steps = load(connection, tables.fact_step, span, within("viewed_at"))
    reached = within(*(milestone.instant for milestone in MILESTONES))
    sessions = _together(
        load(connection, session, span, reached),
        load(connection, session, steps[_SESSION].drop_duplicates()),
        "session",
    )
    orders = load(connection, tables.fact_order, span, within("created_at"))
    submitted = sessions[sessions["submitted_at"] != NEVER]
    # An order stands on its own day with the day of its submission, and on that one.
    ordered_from = load(connection, session, _credited(orders))
    ordered = load(connection, tables.fact_order, submitted[_SESSION])
    facts = Facts(
        sessions=calendar.sessions(_together(sessions, ordered_from, "session")),
        # All steps: a session's last one decides where it dropped off, on whatever day.
        steps=calendar.steps(load(connection, tables.fact_step, sessions[_SESSION])),
        answers=chosen_values(load(connection, answer, submitted[_SESSION])),
        issues=load(connection, tables.fact_code_issued, submitted[_SESSION]),
        orders=calendar.orders(_together(orders, ordered, "order")),
        order_codes=load(connection, tables.fact_order_code, orders[["edition", "order"]]),
        events=calendar.events(_events(connection, editions, spans)),
    )
    visits = load(connection, session, sessions[PAIR].drop_duplicates())
    known = submitted.loc[submitted["customer"] != 0, ["edition", "customer"]].drop_duplicates()
    submissions = load(connection, session, known, f"f.submitted_at <> {NEVER}")
    return {
        "facts": facts,
        "visits": facts.only(
            sessions=calendar.sessions(visits),
            orders=calendar.orders(load(connection, tables.fact_order, visits[_SESSION])),
        ),
        "customers": facts.only(
            sessions=calendar.sessions(submissions),
            answers=chosen_values(load(connection, answer, submissions[_SESSION])),
            orders=calendar.orders(load(connection, tables.fact_order, known)),
        ),
    }


def _together(rows: pd.DataFrame, more: pd.DataFrame, id: str) -> pd.DataFrame:
    """Both, each id once."""
    return pd.concat([rows, more], ignore_index=True).drop_duplicates(id)


def _credited(orders: pd.DataFrame) -> pd.DataFrame:
    """The sessions that these orders are credited to: edition, session; each once."""
    return orders.loc[orders["session"] != 0, _SESSION].drop_duplicates()


def _events(
    connection: ArrowConnection, editions: Mapping[int, int], spans: pd.DataFrame
) -> pd.DataFrame:
    """The events of the staged days (and of others) that editions have applied, from raw rows and kept facts:
    edition, form, at; a row per event."""
    rows = connection.rows_of(tables.raw_event, days_of_raw.EVENTS)
    rows = counted(rows, rules_of(connection, editions.values()))
    shops, index = np.unique(rows["shop_key"].to_numpy(), return_inverse=True)
    own = np.array([editions[shop] for shop in shops.tolist()], dtype=np.int64)[index]
    frame = pd.DataFrame({"edition": own, "form": form_ids(rows["form_id"])})
    low, high = spans["low"].min(), spans["high"].max()
    during = f"last_at >= {low} AND first_at <= {high}"
    parts = [frame.assign(at=rows["occurred_at"].to_numpy())]
    for _, shop_key, kept in kept_facts_io.read_counted(connection, editions, during):
        parts.append(kept.events(editions[shop_key])[["edition", "form", "at"]])
    return pd.concat(parts, ignore_index=True)

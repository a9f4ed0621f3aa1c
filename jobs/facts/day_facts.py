"""Days of some editions: their raw rows, as conditions of SQL over a staged table of these days; and their
stored facts, whole in every unit that a rollup of these days must see. They come in parts, since a day may
have more facts than fit into memory.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Final, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from jobs.arrays.columns import Columns
from jobs.facts import kept_facts, quarters
from jobs.facts.calendar import Calendar, chosen_values
from jobs.facts.fact_table_io import load
from jobs.facts.facts import Facts
from jobs.facts.read_raw import counted, editions_of, form_ids, rules_of
from jobs.facts.sessions import PAIR
from jobs.facts.touched import ORDER, SESSION
from warehouse import tables
from warehouse.catalogue import MILESTONES
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import NEVER, day_start
from warehouse.editions.editions import Edition
from warehouse.editions.pending_batches import has_applied
from warehouse.editions.zone_rules import zone_of

_SESSION: Final = ["edition", "session"]
# Raw events that are in memory together with their texts; two such parts are.
_READ_AT_ONCE: Final = 500_000
# Events whose facts are in memory together. A choice of an answer takes as much as two of them.
_EVENTS_AT_ONCE: Final = 1_000_000


DaysByEdition: TypeAlias = Mapping[Edition, Sequence[int]]
"""The days of each edition, ascending."""

_STAGED: Final = "staged_spans"
# The choices of those who submitted in the staged days.
_CHOICES: Final = f"""
SELECT CAST(COALESCE(SUM(1 + (LENGTH(a.value) - LENGTH(REPLACE(a.value, '","', ''))) / 3), 0) AS BIGINT)
FROM {_STAGED} k CROSS JOIN fact_form_session f CROSS JOIN fact_answer a
WHERE f.edition = k.edition AND f.submitted_at BETWEEN k.low AND k.high
AND a.edition = f.edition AND a.session = f.session
"""


def _of_days(table: str, at: str) -> str:
    """FROM and WHERE of the applied rows (`r`) of the staged days."""
    # Days and rows have the shop in common without the edition, so that the planner joins these two by it.
    return (
        f"FROM {_STAGED} k JOIN edition e ON e.edition = k.edition CROSS JOIN {table} r "
        f"WHERE r.shop_key = k.shop_key AND r.{at} BETWEEN k.low AND k.high "
        f"AND {has_applied('e', 'r.batch_id')}"
    )


EVENTS: Final = (
    "SELECT r.shop_key, r.form_id, r.page_path, r.occurred_at "
    f"{_of_days('raw_event', 'occurred_at')}"
)
"""The raw events of the staged days."""

SESSIONS: Final = f"SELECT r.{SESSION.replace(', ', ', r.')} {_of_days('raw_event', 'occurred_at')}"
"""The form sessions with an event in the staged days, in the columns of `touched.SESSION`."""

ORDERS: Final = f"SELECT r.{ORDER.replace(', ', ', r.')} {_of_days('raw_order', 'created_at')}"
"""The orders that were created in the staged days, in the columns of `touched.ORDER`."""


def spans(connection: ArrowConnection, days: DaysByEdition) -> pd.DataFrame:
    """Spans of consecutive days: edition, shop_key; first, last (days); low, high (their first and last
    instant)."""
    rows = []
    for edition, own in days.items():
        first = previous = own[0]
        rules = zone_of(connection, edition.zone_version, edition.timezone)
        for day in (*own[1:], None):
            if day is None or day != previous + 1:
                low, end = (day_start(at, rules) for at in (first, previous + 1))
                rows.append((edition.edition, edition.shop_key, first, previous, low, end - 1))
                first = day if day is not None else first
            previous = day if day is not None else previous
    return pd.DataFrame(rows, columns=["edition", "shop_key", "first", "last", "low", "high"])


def stage(connection: ArrowConnection, days: DaysByEdition) -> str:
    """Stage the days, and return the name of the temporary table."""
    rows = spans(connection, days)
    return connection.stage(
        _STAGED,
        pa.table({name: rows[name].to_numpy() for name in ("edition", "shop_key", "low", "high")}),
    )


def stored_facts(
    connection: ArrowConnection,
    calendar: Calendar,
    editions: Mapping[int, int],
    spans: pd.DataFrame,
) -> Iterator[tuple[str, Facts]]:
    """The stored facts that the daily rows of some spans of days are sums of, by unit (`Summary.unit`) in
    parts, each unit whole in one of them. Where a unit reaches beyond, facts of other days are among them.

    `editions`: the edition of each shop key; `spans`: those staged (`stage`).
    """
    events = _events(connection, editions, spans)
    choices = 2 * int(connection.value(_CHOICES))
    parts = 1 + (len(events) + choices) // _EVENTS_AT_ONCE
    session, answer = tables.fact_form_session, tables.fact_answer
    visitors, customers = [], []
    for part in range(parts):
        own = calendar.events(events.iloc[part::parts])
        facts = _single_facts(connection, calendar, spans, own, parts, part)
        sessions = pd.DataFrame(
            {name: facts.sessions[name] for name in (*PAIR, "customer", "submitted_at")}
        )
        visitors.append(sessions[PAIR].drop_duplicates())
        submitted = sessions[sessions["submitted_at"] != NEVER]
        customers.append(submitted[["edition", "customer"]].drop_duplicates())
        yield "facts", facts
    nothing = facts.only()
    del facts, events
    for pairs in _parts(visitors, "visitor", parts):
        visits = load(connection, session, pairs)
        orders = load(connection, tables.fact_order, visits[_SESSION])
        yield (
            "visits",
            nothing.only(sessions=calendar.sessions(visits), orders=calendar.orders(orders)),
        )
    for known in _parts(customers, "customer", parts):
        submissions = load(connection, session, known, f"f.submitted_at <> {NEVER}")
        yield (
            "customers",
            nothing.only(
                sessions=calendar.sessions(submissions),
                answers=chosen_values(load(connection, answer, submissions[_SESSION])),
                orders=calendar.orders(load(connection, tables.fact_order, known)),
            ),
        )


def _single_facts(
    connection: ArrowConnection,
    calendar: Calendar,
    spans: pd.DataFrame,
    events: Columns,
    parts: int,
    part: int,
) -> Facts:
    """The sessions and orders of spans of days that belong to a part, an order to that of its session; and
    these events."""
    span = spans[["edition", "low", "high"]]

    def within(*names: str) -> str:
        return "(" + " OR ".join(f'f.{name} BETWEEN k."low" AND k."high"' for name in names) + ")"

    session = tables.fact_form_session
    own = f"f.session % {parts} = {part}"
    owner = 'CASE f.session WHEN 0 THEN f."order" ELSE f.session END'
    steps = load(connection, tables.fact_step, span, f"{within('viewed_at')} AND {own}")
    instants = within("first_at", *(milestone.instant for milestone in MILESTONES))
    # Some of them had an event on these days, whatever it did.
    around = (
        "f.quarters <> '' AND f.first_at <= k.\"high\" "
        f'AND {quarters.LAST} >= CAST(k."low" / {quarters.QUARTER} AS TEXT)'
    )
    sessions = _together(
        load(connection, session, span, f"({instants} OR {around}) AND {own}"),
        load(connection, session, steps[_SESSION].drop_duplicates()),
        "session",
    )
    created = f"{within('created_at')} AND ABS(({owner}) % {parts}) = {part}"
    orders = load(connection, tables.fact_order, span, created)
    submitted = sessions[sessions["submitted_at"] != NEVER]
    # An order stands on its own day with the day of its submission, and on that one.
    credited = orders.loc[orders["session"] != 0, _SESSION].drop_duplicates()
    ordered_from = load(connection, session, credited)
    ordered = load(connection, tables.fact_order, submitted[_SESSION])
    with_ordered = _together(sessions, ordered_from, "session")
    return Facts(
        sessions=calendar.sessions(with_ordered),
        # All steps: a session's last one decides where it dropped off, on whatever day.
        steps=calendar.steps(load(connection, tables.fact_step, sessions[_SESSION])),
        answers=chosen_values(load(connection, tables.fact_answer, submitted[_SESSION])),
        issues=load(connection, tables.fact_code_issued, submitted[_SESSION]),
        orders=calendar.orders(_together(orders, ordered, "order")),
        order_codes=load(connection, tables.fact_order_code, orders[["edition", "order"]]),
        events=events,
        quarters=calendar.quarters(with_ordered),
    )


def _parts(keys: list[pd.DataFrame], id: str, parts: int) -> Iterator[pd.DataFrame]:
    """These keys, each once, in so many parts; those whose id is 0, which is none, left out."""
    distinct = pd.concat(keys, ignore_index=True).drop_duplicates()
    distinct = distinct[distinct[id] != 0]
    for part in range(parts):
        yield distinct[np.abs(distinct[id] % parts) == part]


def _together(rows: pd.DataFrame, more: pd.DataFrame, id: str) -> pd.DataFrame:
    """Rows of two frames, each id once."""
    return pd.concat([rows, more], ignore_index=True).drop_duplicates(id)


def _events(
    connection: ArrowConnection, editions: Mapping[int, int], spans: pd.DataFrame
) -> pd.DataFrame:
    """The events of the staged days (and of others) that editions have applied, from raw rows and kept facts:
    edition, form, at; a row per event."""
    low, high = spans["low"].min(), spans["high"].max()
    during = f"last_at >= {low} AND first_at <= {high}"
    found = [
        kept.events(editions[shop_key])[["edition", "form", "at"]]
        for _, shop_key, kept in kept_facts.read_counted(connection, editions, during)
    ]
    rules = rules_of(connection, editions.values())
    with closing(connection.parts_of(tables.raw_event, EVENTS, _READ_AT_ONCE)) as parts:
        for part in parts:
            rows = counted(part, rules)
            columns = {
                "edition": editions_of(rows["shop_key"].to_numpy(), editions),
                "form": form_ids(rows["form_id"]),
                "at": rows["occurred_at"].to_numpy(),
            }
            found.append(pd.DataFrame(columns))
    return pd.concat(found, ignore_index=True)

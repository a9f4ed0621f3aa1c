"""A whole derivation without a database: partial facts and stored rows in, changes out."""

from typing import Any

import pandas as pd

from jobs.facts import discounts
from jobs.facts.changes import Changes, Versions
from jobs.facts.customers import resolve, touched_emails, with_customers
from jobs.facts.derive_changes import derive_changes
from jobs.facts.gather import Gathered
from jobs.facts.orders import batch_orders
from jobs.facts.partials import Partials, fold
from jobs.facts.sessions import StoredSessions, batch_sessions
from tests.support.fact_frames import Row, at, orders, raw_events, raw_orders, rows_of, sessions
from warehouse import tables
from warehouse.domain.vocabulary import BY_VISITOR, COMPLETE, STEP_VIEW, VIEW
from warehouse.editions.editions import SESSION_BITS

NEW = (1 << SESSION_BITS) + 5


def gathered(partials: Partials, stored: pd.DataFrame, bought: pd.DataFrame) -> Gathered:
    """The gathered rows if all of these rows were stored, and no others."""
    named = stored[stored["session_hash"].isin(partials.sessions["session_hash"])]
    nothing = {
        "steps": rows_of(tables.fact_step),
        "answers": rows_of(tables.fact_answer),
        "issues": rows_of(tables.fact_code_issued),
    }
    numbers = rows_of(tables.edition, {"edition": 1, "next_session": 5})
    batch = batch_sessions(
        partials, StoredSessions(sessions=named, next_numbers=numbers, **nothing)
    )
    versions = Versions(bought, pd.concat([bought, batch_orders(partials.orders)[bought.columns]]))
    emails = touched_emails(partials.emails, batch.sessions.new, versions.new)
    known = rows_of(tables.fact_email)
    resolution = resolve(emails, Versions(known, known), partials.emails, versions)
    merged = pd.concat([stored[~stored.index.isin(batch.ids)], batch.sessions.new])
    codes = rows_of(tables.fact_order_code)
    counts = discounts.usage_counts(
        rows_of(tables.code_usage), batch.issues, batch.sessions, Versions(codes, codes)
    )
    names = rows_of(tables.dim_step)
    return Gathered(
        batch=batch,
        sessions=Versions(stored, with_customers(merged, batch.ids, resolution)),
        orders=versions,
        other_orders=bought.iloc[:0],
        issues=nothing["issues"],
        order_codes=Versions(codes, codes),
        resolution=resolution,
        code_usage=discounts.code_usage(discounts.named_codes(codes), counts, partials.texts),
        step_names=Versions(names, names),
    )


def changes(
    events: list[Row], stored: pd.DataFrame, *bought: Row, new_orders: tuple[Row, ...] = ()
) -> Changes:
    partials = fold(raw_events(events), raw_orders(new_orders))
    return derive_changes(partials, gathered(partials, stored, orders(*bought)), 30)


def figures(rows: pd.DataFrame, session: int) -> dict[str, Any]:
    return rows.loc[session, ["orders", "gross", "refunded", "is_first_session"]].to_dict()


def test_a_late_submission_takes_an_order_over() -> None:
    stored = sessions(
        {"session": 1, "session_hash": 11, "first_at": at(1), "is_first_session": 1}
        | {"submitted_at": at(1), "completed_at": at(1), "orders": 1, "gross": 50}
    )
    order = {"order": 9, "created_at": at(5), "visitor": 1, "gross": 50}
    credit = {"type": BY_VISITOR, "session": 1, "form": 1}
    event = {"session_hash": 12, "type": COMPLETE, "at": at(3), "event_id": "e"}
    found = changes([event], stored, order | credit)
    assert found.orders.new["session"].to_dict() == {9: NEW}
    assert found.changed_orders.tolist() == [9]
    assert found.changed_sessions.tolist() == [1, NEW]
    assert figures(found.sessions.old, 1)["gross"] == 50
    assert figures(found.sessions.new, 1) == {
        "orders": 0,
        "gross": 0,
        "refunded": 0,
        "is_first_session": 1,
    }
    assert figures(found.sessions.new, NEW) == {
        "orders": 1,
        "gross": 50,
        "refunded": 0,
        "is_first_session": 0,
    }


def test_events_that_change_nothing_derived_change_their_session_alone() -> None:
    stored = sessions(
        {"session": 1, "session_hash": 11, "first_at": at(1), "is_first_session": 1},
        {"session": 2, "session_hash": 12, "first_at": at(2)},
    )
    first = {"session_hash": 11, "type": STEP_VIEW, "at": at(1), "event_id": "e", "step": 1}
    event = {"session_hash": 11, "type": VIEW, "at": at(4), "event_id": "f"}
    found = changes([first, event], stored)
    assert found.changed_sessions.tolist() == [1]
    assert found.sessions.new["viewed_at"].loc[1] == at(4)
    assert found.batch_sessions.tolist() == [1]


def test_an_order_is_credited_when_it_comes() -> None:
    stored = sessions(
        {"session": 1, "session_hash": 11, "submitted_at": at(1), "visitor": 6, "first_at": at(1)}
    )
    order = {"order": 9, "order_id": "o", "created_at": at(5), "visitor": 6, "gross": 70}
    found = changes([], stored, new_orders=(order,))
    assert found.orders.new["session"].to_dict() == {9: 1}
    assert found.order_ids["order_id"].to_dict() == {9: "o"}
    assert figures(found.sessions.new, 1)["gross"] == 70
    assert found.changed_sessions.tolist() == [1]

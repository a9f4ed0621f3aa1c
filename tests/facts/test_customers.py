"""Customer keys of what a batch touches (contract 1)."""

import pandas as pd

from jobs.facts.customers import resolve_customers
from jobs.facts.fold import latest_emails
from jobs.facts.working import Working
from tests.facts.building import Row, orders, rows_of, sessions
from warehouse.tables import fact_email

MAIL, OTHER = 100, 200


def seen(*sightings: Row) -> pd.DataFrame:
    return rows_of(fact_email, *sightings)


def test_of_several_sightings_the_latest_then_the_greater_id() -> None:
    rows = seen(
        {"email": MAIL, "seen_at": 5, "customer_id": "c9", "customer": 9},
        {"email": MAIL, "seen_at": 5, "customer_id": "c10", "customer": 10},
        {"email": MAIL, "seen_at": 4, "customer_id": "z", "customer": 1},
        {"email": OTHER, "seen_at": 1, "customer_id": "c", "customer": 3},
    )
    assert latest_emails(rows)[["email", "customer"]].to_numpy().tolist() == [[MAIL, 9], [OTHER, 3]]


def test_keys(work: Working) -> None:
    own = {"customer_id": "c1", "customer_own": 1}
    work.put_sessions(
        sessions(
            {"session": 1, **own, "email": MAIL},
            {"session": 2, "email": MAIL},
            {"session": 3, "email": OTHER},
            {"session": 4},
        )
    )
    # On an order the e-mail was seen with a customer last; an event says so of an earlier time.
    ordered = orders(
        {"order": 1, "created_at": 9, "customer_id": "c2", "customer_own": 2, "email": MAIL},
        {"order": 2, "created_at": 9, "email": MAIL},
    )
    work.put_orders(ordered, ordered.index)
    events = seen({"email": MAIL, "seen_at": 8, "customer_id": "c3", "customer": 3})
    stored = resolve_customers(work, events, work.new_sessions.index.to_numpy(), ordered.index)
    assert work.new_sessions["customer"].to_dict() == {1: 1, 2: 2, 3: OTHER, 4: 0}
    assert work.new_orders["customer"].to_dict() == {1: 2, 2: 2}
    # What is stored is what events saw; orders are asked themselves.
    assert stored[["email", "customer"]].to_numpy().tolist() == [[MAIL, 3]]


def test_an_order_seen_at_the_same_time_ties_by_the_greater_id(work: Working) -> None:
    work.put_sessions(sessions({"session": 1, "email": MAIL}))
    ordered = orders(
        {"order": 1, "created_at": 8, "customer_id": "c10", "customer_own": 10, "email": MAIL}
    )
    work.put_orders(ordered, ordered.index)
    events = seen({"email": MAIL, "seen_at": 8, "customer_id": "c9", "customer": 9})
    resolve_customers(work, events, work.new_sessions.index.to_numpy(), ordered.index)
    assert work.new_sessions["customer"].to_dict() == {1: 9}

"""Customer keys of what a batch touches (contract 1)."""

import pandas as pd

from jobs.facts.changes import Versions
from jobs.facts.customers import resolve, touched_emails, with_customers
from jobs.facts.partials import merge_emails
from tests.support.fact_frames import Row, orders, rows_of, sessions
from warehouse.tables import fact_email

MAIL, OTHER = 100, 200


def seen(*sightings: Row) -> pd.DataFrame:
    return rows_of(fact_email, *sightings)


def test_the_latest_sighting_then_the_greater_id() -> None:
    rows = seen(
        {"email": MAIL, "seen_at": 5, "customer_id": "c9", "customer": 9},
        {"email": MAIL, "seen_at": 5, "customer_id": "c10", "customer": 10},
        {"email": MAIL, "seen_at": 4, "customer_id": "z", "customer": 1},
        {"email": OTHER, "seen_at": 1, "customer_id": "c", "customer": 3},
    )
    assert merge_emails(rows)[["email", "customer"]].to_numpy().tolist() == [[MAIL, 9], [OTHER, 3]]


def test_keys() -> None:
    stored = sessions(
        {"session": 1, "customer_id": "c1", "customer_seen": 1, "email": MAIL},
        {"session": 2, "email": MAIL},
        {"session": 3, "email": OTHER},
        {"session": 4},
    )
    # On an order the e-mail was seen with a customer last; an event says so of an earlier time.
    bought = orders(
        {"order": 1, "created_at": 9, "customer_id": "c2", "customer_seen": 2, "email": MAIL},
        {"order": 2, "created_at": 9, "email": MAIL},
    )
    events = seen({"email": MAIL, "seen_at": 8, "customer_id": "c3", "customer": 3})
    emails = touched_emails(stored, bought)
    resolution = resolve(
        emails, Versions(seen(), seen()), events, Versions(bought.iloc[:0], bought)
    )
    assert resolution.moved()["email"].tolist() == [MAIL]
    rows = with_customers(stored, stored.index.to_numpy(), resolution)
    assert rows["customer"].to_dict() == {1: 1, 2: 2, 3: OTHER, 4: 0}
    rows = with_customers(bought, bought.index.to_numpy(), resolution)
    assert rows["customer"].to_dict() == {1: 2, 2: 2}
    # Only the events' sighting is stored: orders are read each time.
    assert resolution.emails.new[["email", "customer"]].to_numpy().tolist() == [[MAIL, 3]]


def test_an_order_seen_at_the_same_time_ties_by_the_greater_id() -> None:
    stored = sessions({"session": 1, "email": MAIL})
    bought = orders(
        {"order": 1, "created_at": 8, "customer_id": "c10", "customer_seen": 10, "email": MAIL}
    )
    events = seen({"email": MAIL, "seen_at": 8, "customer_id": "c9", "customer": 9})
    unseen = Versions(seen(), seen())
    resolution = resolve(touched_emails(stored), unseen, events, Versions(bought, bought))
    rows = with_customers(stored, stored.index.to_numpy(), resolution)
    assert rows["customer"].to_dict() == {1: 9}
    assert resolution.moved()["email"].tolist() == [MAIL]

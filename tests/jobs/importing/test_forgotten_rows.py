"""Imports drop the rows of forgotten persons, also those that are written while a person is forgotten."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from jobs.importing.kinds import append_only
from jobs.pipeline import forgetting
from jobs.run.job_run import JobRun
from tests.support.hashing import HASHER
from tests.support.import_files import event, order
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from tests.support.warehouse import Warehouse
from warehouse.connections.arrow import open_arrow
from warehouse.domain.email_hash import hashed_email
from warehouse.persons.forgotten import identifier_hash, identifier_of, remember

A = 1
EMAIL = "ada@mail.example"


def remembered(
    warehouse: Warehouse, kind: str, text: str, shop_key: int = A, *, keeps_orders: bool = False
) -> None:
    """Have a person forgotten of whom there is no row."""
    with open_arrow(warehouse.url) as connection:
        person = identifier_of(HASHER, kind, text)
        remember(connection, shop_key, {identifier_hash(HASHER, person): keeps_orders}, 1)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("email", " ADA@mail.example"),
        ("email", HASHER.email(EMAIL)),
        ("email", hashed_email(EMAIL)),
        ("customer", "c-1"),
        ("visitor", "ada"),
    ],
)
def test_rows_are_dropped_and_counted(warehouse: Warehouse, kind: str, text: str) -> None:
    remembered(warehouse, kind, text)
    own = {"email": EMAIL, "customer_id": "c-1", "visitor_id": "ada"}
    rows = [
        event(event_id="1", **own),
        event(event_id="2", customer_id="c-10", visitor_id="ada2", email="eve@mail.example"),
        event(event_id="3", shop_id="b.example", **own),
        event(event_id="1", **own),
    ]
    counts = warehouse.take("events", rows)
    assert (counts["new"], counts["duplicate"], counts["forgotten"]) == (2, 0, 2)
    counts = warehouse.take("events", rows)
    assert (counts["new"], counts["duplicate"], counts["forgotten"]) == (0, 2, 2)
    assert warehouse.records("SELECT event_id FROM raw_event ORDER BY event_id") == [
        {"event_id": "2"},
        {"event_id": "3"},
    ]
    assert warehouse.records("SELECT rows FROM import_batch") == [{"rows": 1}, {"rows": 1}]


def test_versions_of_orders_are_counted_as_without_the_dropped_ones(warehouse: Warehouse) -> None:
    remembered(warehouse, "visitor", "ada")
    at = "2026-01-0{}T00:00:00Z".format
    counts = warehouse.take(
        "orders",
        [
            order(updated_at=at(3)),
            order(updated_at=at(4), visitor_id="ada"),
            order(updated_at=at(5)),
            order(order_id="o2", visitor_id="ada"),
        ],
    )
    assert counts == {
        "read": 4, "new": 1, "duplicate": 0, "replaced": 1, "rejected": 0, "forgotten": 2,
    }  # fmt: skip


def test_orders_that_stay_come_without_their_buyers(warehouse: Warehouse) -> None:
    """In their places among the other versions; a person of whom nothing stays comes first."""
    remembered(warehouse, "visitor", "ada", keeps_orders=True)
    remembered(warehouse, "visitor", "bob")
    at = "2026-01-0{}T00:00:00Z".format
    rows = [
        order(updated_at=at(4), visitor_id="ada", customer_id="c1", total_cents=4),
        order(updated_at=at(3), visitor_id="eve", total_cents=3),
        order(updated_at=at(5), visitor_id="ada", email=EMAIL, total_cents=5),
        order(order_id="o2", visitor_id="bob"),
        order(order_id="o3", visitor_id="bob", email=EMAIL),
    ]
    remembered(warehouse, "email", EMAIL, keeps_orders=True)
    counts = warehouse.take("orders", rows)
    assert counts == {
        "read": 5, "new": 1, "duplicate": 1, "replaced": 1, "rejected": 0, "forgotten": 2,
    }  # fmt: skip
    stored = "SELECT gross, visitor_id, customer_id, email_sha256 FROM raw_order ORDER BY gross"
    nobody = ("", "", "")
    assert warehouse.rows(stored) == [(3, "eve", "", ""), (4, *nobody), (5, *nobody)]
    assert warehouse.rows("SELECT rows FROM import_batch") == [3]
    counts = warehouse.take("orders", rows)
    assert (counts["new"], counts["duplicate"], counts["forgotten"]) == (0, 3, 2)
    assert warehouse.rows("SELECT import_id, COUNT(*) FROM repeated_order GROUP BY import_id") == [
        (2, 3)
    ]
    assert warehouse.take("events", [event(visitor_id="ada")])["forgotten"] == 1


def test_an_address_in_another_field_is_the_persons(warehouse: Warehouse) -> None:
    remembered(warehouse, "email", EMAIL)
    rows = [
        event(event_id="1", utm_content=EMAIL),
        event(event_id="2", customer_id=EMAIL),
        event(event_id="3", discount_code=EMAIL),
        event(event_id="4", utm_content="eve@mail.example"),
    ]
    assert warehouse.take("events", rows)["forgotten"] == 3


def test_no_row_slips_in_while_a_person_is_forgotten(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An import has written the row, and has not committed yet."""
    monkeypatch.setenv("WAREHOUSE_URL", warehouse.url)
    written, committing, waits, forgot = (Event() for _ in range(4))
    insert = append_only.insert_wanted

    def slowly(*args: Any) -> Any:
        inserted = insert(*args)
        written.set()
        assert committing.wait(PATIENCE_SECONDS)
        return inserted

    def is_waiting() -> bool:
        if warehouse.url.startswith("sqlite"):
            return waits.is_set()
        return bool(warehouse.records("SELECT 1 FROM pg_locks WHERE NOT granted"))

    def commit_then() -> None:
        wait_until(lambda: is_waiting() or forgot.is_set())
        committing.set()

    monkeypatch.setattr("jobs.importing.kinds.events.insert_wanted", slowly)
    with ThreadPoolExecutor(2) as pool, JobRun("forget") as run:
        run.connection.on_lock_wait = lambda _holder: waits.set()
        importing = pool.submit(warehouse.take, "events", [event(visitor_id="ada")])
        assert written.wait(PATIENCE_SECONDS)
        pool.submit(commit_then)
        forgetting.forget(run, A, [identifier_of(HASHER, "visitor", "ada")], keeps_orders=False)
        forgot.set()
        assert importing.result()["new"] == 1
    assert warehouse.records("SELECT * FROM raw_event") == []

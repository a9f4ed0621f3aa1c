"""A refresh writes the facts that differ, and no others."""

from collections import Counter
from typing import Any

import pytest

from tests.support.product import Product
from warehouse.connections.arrow import ArrowConnection

SESSION = {
    "shop_id": "a.example",
    "form_id": "aaaaaaaa-0000-4000-8000-000000000000",
    "form_session_id": "s",
    "visitor_id": "v",
}
ANSWER = {"type": "answer", "field_id": "size", "field_type": "choice"}


def load(product: Product, number: int, **event: str) -> None:
    # All in a quarter of an hour: each other is in the facts.
    at = {"event_id": str(number), "occurred_at": f"2026-01-01T01:0{number}:00Z"}
    product.load("events", [{**SESSION, **at, **event}])


def written(
    product: Product, monkeypatch: pytest.MonkeyPatch, number: int, **event: str
) -> Counter[str]:
    """How many rows of facts a refresh writes after one more event of a session, by table."""
    load(product, number, **event)
    counts = Counter[str]()
    append = ArrowConnection.append

    def counting(connection: ArrowConnection, name: str, rows: Any, **options: Any) -> None:
        counts[name] += rows.num_rows
        append(connection, name, rows, **options)

    with monkeypatch.context() as patched:
        patched.setattr(ArrowConnection, "append", counting)
        product.rollup()
    return Counter({name: rows for name, rows in counts.items() if name.startswith("fact_")})


def test_an_event_that_changes_no_fact_writes_none(
    product: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    product.load("shops", [{"shop_id": "a.example", "currency": "USD"}])
    load(product, 1, type="view")
    load(product, 2, type="subscribe", discount_code="TEN")
    load(product, 3, **ANSWER, value="M")
    product.rollup()
    assert written(product, monkeypatch, 4, type="view") == {}
    assert written(product, monkeypatch, 5, **ANSWER, value="L") == {"fact_answer": 1}
    assert written(product, monkeypatch, 6, type="complete") == {"fact_form_session": 1}

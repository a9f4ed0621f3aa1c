"""A refresh writes the facts that differ, and no others."""

from collections import Counter
from typing import Any

import pytest

from tests.jobs.facts.test_rows_read import START, session
from tests.support.product import Product
from warehouse.connections.arrow import ArrowConnection

SHOP = {"shop_id": "a.example"}


def written(
    product: Product, monkeypatch: pytest.MonkeyPatch, number: int, **event: str
) -> Counter[str]:
    """How many rows of facts a refresh writes after one more event of a session, by table."""
    (row,) = session("s", START, {}, submits=False)
    row |= {**SHOP, "event_id": f"late-{number}", "occurred_at": f"2026-01-01T0{number}:00:00Z"}
    product.load("events", [row | event])
    counts = Counter[str]()
    append = ArrowConnection.append

    def counting(connection: ArrowConnection, name: str, rows: Any) -> None:
        counts[name] += rows.num_rows
        append(connection, name, rows)

    with monkeypatch.context() as patched:
        patched.setattr(ArrowConnection, "append", counting)
        product.rollup()
    return Counter({name: rows for name, rows in counts.items() if name.startswith("fact_")})


def test_an_event_that_changes_no_fact_writes_none(
    product: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    product.load("shops", [{**SHOP, "currency": "USD"}])
    product.load("events", [{**SHOP, **row} for row in session("s", START, {}, submits=True)])
    product.rollup()
    assert written(product, monkeypatch, 1, type="view") == {}
    answer = {"type": "answer", "field_id": "size", "field_type": "choice", "value": "L"}
    assert written(product, monkeypatch, 2, **answer) == {"fact_answer": 1}
    assert written(product, monkeypatch, 3, type="complete") == {"fact_form_session": 1}

"""The orders that a late submission re-opens do not grow with the shop where all share one code; whom
it credits is in `by_hand/test_late_submissions.py` and `test_credits.py`."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
import pytest

from jobs.facts import fact_table_io
from tests.support.oracle.records import Row
from tests.support.product import Product

START = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = 20


def _submission(shop_id: str, name: str, at: datetime) -> Row:
    return {
        "shop_id": shop_id,
        "form_id": "aaaaaaaa-0000-4000-8000-000000000000",
        "event_id": name,
        "form_session_id": name,
        "visitor_id": name,
        "type": "subscribe",
        "occurred_at": at.isoformat(),
        "discount_code": "TEN",
    }


def _order(shop_id: str, name: str, at: datetime) -> Row:
    codes = [{"code": "TEN"}]
    order = {"shop_id": shop_id, "order_id": name, "created_at": at.isoformat()}
    return order | {"total_cents": 100, "discount_codes": codes}


def _loaded(product: Product, monkeypatch: pytest.MonkeyPatch, strangers: int) -> int:
    """How many facts a refresh loads after one submission and one order in the midst of so many."""
    shop_id = f"{strangers}.example"
    step = timedelta(days=DAYS) / strangers
    product.load("shops", [{"shop_id": shop_id, "currency": "USD"}])
    places = [(str(number), START + number * step) for number in range(strangers)]
    product.load("events", [_submission(shop_id, name, at) for name, at in places])
    product.load("orders", [_order(shop_id, name, at + step / 2) for name, at in places])
    product.rollup()

    middle = START + (strangers // 2) * step
    product.load("events", [_submission(shop_id, "late", middle + step / 4)])
    product.load("orders", [_order(shop_id, "late", middle + step / 3)])
    counts: list[int] = []

    def counting(*args: Any, **options: Any) -> pd.DataFrame:
        rows = load(*args, **options)
        counts.append(len(rows))
        return rows

    load = fact_table_io.load
    with monkeypatch.context() as patched:
        patched.setattr(fact_table_io, "load", counting)
        product.rollup()
    return sum(counts)


def test_as_little_among_many_as_among_few(
    warehouse_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    product = Product(warehouse_url)
    few, many = (_loaded(product, monkeypatch, strangers) for strangers in (10, 300))
    assert 0 < few == many

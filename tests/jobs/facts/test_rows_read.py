"""A refresh reads as many facts beside a person with many sessions as beside one with few: a kiosk, a bot, a
"guest" that a shop gives everybody as customer. Its figures are in `contract/test_few_people.py`."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from tests.support.oracle.records import Row
from tests.support.product import Product
from warehouse.connections.arrow import ArrowConnection

START = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = 60
FORM = "aaaaaaaa-0000-4000-8000-000000000000"
KIOSK = {"visitor_id": "kiosk"}
GUEST = {"customer_id": "guest"}


def session(name: str, at: datetime, person: Row, *, submits: bool) -> list[Row]:
    """A view; and an answer, a code and a submission."""
    row = {"form_id": FORM, "form_session_id": name, "visitor_id": name, **person}
    events: list[Row] = [{"type": "view"}]
    if submits:
        answer = {"type": "answer", "field_id": "size", "field_type": "choice", "value": "M"}
        events += [answer, {"type": "subscribe", "discount_code": "TEN"}]
    return [
        {**row, **event, "event_id": f"{name}-{number}", "occurred_at": at.isoformat()}
        for number, event in enumerate(events)
    ]


def order(name: str, at: datetime, person: Row) -> Row:
    codes = [{"code": "TEN"}]
    row = {"order_id": name, "created_at": at.isoformat(), "total_cents": 100}
    return {**row, "discount_codes": codes, **person}


def load(product: Product, shop_id: str, events: list[Row], orders: list[Row]) -> None:
    """Import these rows of a shop."""
    product.load("orders", [{"shop_id": shop_id, **row} for row in orders])
    product.load("events", [{"shop_id": shop_id, **row} for row in events])


def rows_read(
    product: Product, monkeypatch: pytest.MonkeyPatch, person: Row, sessions: int
) -> list[int]:
    """How many rows a refresh of today and a late one read, beside so many sessions."""
    product.empty()
    shop_id = "a.example"
    step = timedelta(days=DAYS) / sessions
    product.load("shops", [{"shop_id": shop_id, "currency": "USD"}])
    places = [(number, START + number * step) for number in range(sessions)]
    events = [session(f"s{number}", at, person, submits=number % 2 == 0) for number, at in places]
    bought = [START + timedelta(days=day, hours=1) for day in (1, 20, 50)]
    orders = [order(f"o{at}", at, person) for at in bought]
    load(product, shop_id, [event for some in events for event in some], orders)
    product.rollup()

    counts: list[int] = []

    def counting(connection: ArrowConnection, *args: Any) -> pa.Table:
        rows = table(connection, *args)
        counts[-1] += rows.num_rows
        return rows

    table = ArrowConnection.table
    with monkeypatch.context() as patched:
        patched.setattr(ArrowConnection, "table", counting)
        for name, at in (("today", DAYS), ("late", DAYS / 2)):
            instant = START + timedelta(days=at) + step / 2
            some = [
                *session(f"{name}-1", instant, person, submits=False),
                *session(f"{name}-2", instant + step / 8, person, submits=True),
            ]
            bought_then = [order(name, instant + step / 4, person)]
            counts.append(0)
            load(product, shop_id, some, bought_then)
            counts[-1] = 0
            product.rollup()
    return counts


@pytest.mark.parametrize("person", [KIOSK, GUEST], ids=["visitor", "customer"])
def test_as_little_beside_many_sessions_as_beside_few(
    product: Product, monkeypatch: pytest.MonkeyPatch, person: Row
) -> None:
    few, many = (rows_read(product, monkeypatch, person, sessions) for sessions in (60, 600))
    assert few == many

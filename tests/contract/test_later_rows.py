"""Rows that come after a rollup and change what others say: an answer is given again, and an order without a
customer's id turns out to be a known customer's."""

import pytest

from jobs.facts import fact_table_io
from tests.support.oracle import Oracle, compare
from tests.support.oracle.making import FORM, MARCH, SHOP, TODAY, answered, order, submission
from tests.support.product import Product


def test_an_answer_and_a_customer_change(product: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    # Few keys are enough to ask first whether there is anything to look up.
    monkeypatch.setattr(fact_table_io, "_MANY_KEYS", 1)
    code = {"discount_id": "d", "discount_code": "SAVE"}
    again = answered("s", "1", "size", "large") | {"event_id": "again"}
    first = {
        "shops": [{"shop_id": SHOP, "currency": "EUR"}],
        "forms": [{"form_id": FORM, "shop_id": SHOP, "name": "Form"}],
        "events": [submission("s", "2", **code), answered("s", "1", "size", "small")],
        "orders": [order("o2", "4", 500, email="ada@a.example", discount_codes=[{"code": "SAVE"}])],
    }
    later = {
        "events": [again | {"occurred_at": first["events"][0]["occurred_at"]}],
        "orders": [order("o1", "3", 700, email="ada@a.example", customer_id="c")],
    }
    for rows in (first, later):
        for kind, some in rows.items():
            product.load(kind, some)
        product.rollup()
    oracle = Oracle(first | {kind: first[kind] + later[kind] for kind in later})
    asked = {"range": MARCH}
    for path in (f"/v1/forms/{FORM}/response-revenue", "/v1/revenue/new-returning"):
        _, answer = product.get(path, asked, SHOP)
        expected = oracle.answer(path, asked, SHOP, TODAY)
        assert not compare(path, expected, answer["data"]), path
    assert "returning" in str(answer["data"])
    assert product.verify_all()

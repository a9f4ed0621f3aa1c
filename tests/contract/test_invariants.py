"""Promises about the answers to any data that no comparison with the oracle makes plain."""

from datetime import timedelta
from random import Random
from typing import Any

import pytest

from tests.support.additive import additive, summed
from tests.support.examples import load, start_over
from tests.support.oracle import Oracle, UnknownForm
from tests.support.oracle.times import resolve_range
from tests.support.product import Product
from tests.support.strategies import portions
from tests.support.worlds import world


def test_a_range_is_the_sum_of_its_parts(product: Product) -> None:
    some = world(3, size=20)
    start_over(product, some)
    load(product, portions(some.records, Random(3)), Random(3))
    for shop_id in some.casts:
        whole = some.ranges(shop_id)[2] or ""
        first, last = resolve_range(whole, some.now.date())
        middle = first + (last - first) / 2
        parts = (whole, f"{first}..{middle}", f"{middle + timedelta(days=1)}..{last}")
        for path, query in some.questions(shop_id):
            what = additive(path, query)
            if what:
                data: list[Any] = []
                for text in parts:
                    status, body = product.get(path, {**query, "range": text}, shop_id)
                    assert status == 200, (path, query, body)
                    data.append(body["data"])
                assert summed(what, data[0]) == summed(what, *data[1:]), (shop_id, path, query)


def test_a_form_that_is_not_the_shops_is_a_404(product: Product) -> None:
    some = world(5)
    start_over(product, some)
    load(product, portions(some.records, Random(5)), Random(5))
    oracle = Oracle(some.records)
    for shop_id, cast in some.casts.items():
        for form_id in (cast.unknown_form, cast.foreign_form):
            path = f"/v1/forms/{form_id}/funnel"
            with pytest.raises(UnknownForm):
                oracle.answer(path, {}, shop_id, some.now.date())
            assert product.get(path, {}, shop_id)[0] == 404

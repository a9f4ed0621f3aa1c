"""Promises about the answers to any data that no comparison with the oracle makes plain."""

from datetime import timedelta
from random import Random

import pytest

from tests.support.additive import Sums, additive, summed
from tests.support.examples import load, start_over
from tests.support.oracle import Oracle, UnknownForm
from tests.support.oracle.filters import FILTERED
from tests.support.oracle.times import resolve_range
from tests.support.product import Product
from tests.support.strategies import portions
from tests.support.worlds import world
from tests.support.worlds.filters import VALUES


def added(product: Product, shop_id: str, path: str, *queries: dict[str, str]) -> Sums:
    """The figures that add up of the answers to these, added."""
    what = additive(path, queries[0])
    assert what
    answers = []
    for query in queries:
        status, body = product.get(path, query, shop_id)
        assert status == 200, (path, query, body)
        answers.append(body["data"])
    return summed(what, *answers)


def test_a_range_is_the_sum_of_its_parts(product: Product) -> None:
    some = world(3, size=20)
    start_over(product, some)
    load(product, portions(some.records, Random(3)), Random(3))
    for shop_id in some.casts:
        days = some.ranges(shop_id)[2] or ""
        first, last = resolve_range(days, some.now.date())
        middle = first + (last - first) / 2
        ranges = (days, f"{first}..{middle}", f"{middle + timedelta(days=1)}..{last}")
        for path, query in some.questions(shop_id):
            if additive(path, query):
                whole, *halves = ({**query, "range": text} for text in ranges)
                sums = added(product, shop_id, path, whole)
                assert sums == added(product, shop_id, path, *halves), (shop_id, path, query)


def test_the_values_of_a_filter_are_the_whole(product: Product) -> None:
    some = world(3, size=20)
    start_over(product, some)
    load(product, portions(some.records, Random(3)), Random(3))
    for shop_id, cast in some.casts.items():
        days = {"range": some.ranges(shop_id)[2] or ""}
        addresses = [address.format(id=cast.forms[0]) for address in FILTERED]
        for path, query in some.questions(shop_id):
            if path not in addresses or VALUES.keys() & query.keys() or not additive(path, query):
                continue
            whole = added(product, shop_id, path, query | days)
            # A filtered answer has no row of unattributed orders.
            whole.pop((None,), None)
            for name, values in VALUES.items():
                parts = (query | days | {name: value} for value in values)
                assert added(product, shop_id, path, *parts) == whole, (path, query, name)


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

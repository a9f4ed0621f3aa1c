"""The promises about any data: the answers are the oracle's, whatever came before.

Random worlds are imported in random order, with repetitions, in random portions with rollups in
between, and every answer is compared with the plain recomputation from the raw records. A failure
prints the portions, the questions and the differences; the worlds shrink to the sessions and
orders that it takes.
"""

from datetime import timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.additive import additive, summed
from tests.support.answers import assert_answers, days_of
from tests.support.examples import EXAMPLES, start_over, tell
from tests.support.oracle import Oracle, RowLimits, UnknownForm
from tests.support.oracle.times import resolve_range
from tests.support.product import Product
from tests.support.strategies import Portion, portions, seeds, worlds
from tests.support.worlds import World, world

few_rows = st.builds(RowLimits, rows=st.integers(1, 12), values=st.integers(1, 3))


@pytest.fixture
def product(warehouse_url: str) -> Product:
    return Product(warehouse_url)


def load(product: Product, files: list[Portion], rng: Random) -> None:
    """Import the files one by one; after some of them, roll up."""
    for number, (kind, rows) in enumerate(files):
        rolled = rng.random() < 0.3
        product.load(kind, rows)
        if rolled:
            product.rollup()
        tell(f"file {number}: {len(rows)} {kind}{', rollup' if rolled else ''}")
    product.rollup()


def assert_answers_of_few_rows(product: Product, given: World, limits: RowLimits) -> None:
    """With limits that most answers exceed, the first rows and the sums of the others are the oracle's."""
    product.close()
    few = Product(product.url, limits)
    assert_answers(few, given, f"with {limits}")
    few.close()


@given(given_world=worlds(), seed=seeds, limits=few_rows)
@EXAMPLES
def test_any_order_and_portions_give_the_oracles_answers(
    product: Product, given_world: World, seed: int, limits: RowLimits
) -> None:
    rng = Random(seed)
    start_over(product, given_world)
    load(product, portions(given_world.records, rng), rng)
    assert_answers(product, given_world, "after the last rollup")
    assert_answers_of_few_rows(product, given_world, limits)
    assert product.verify_all(), "verify --all finds differences"
    # Everything once more changes nothing.
    load(product, portions(given_world.records, rng), rng)
    assert_answers(product, given_world, "after importing it all again")


@given(given_world=worlds(), seed=seeds)
@EXAMPLES
def test_rebuild_and_backfill_change_nothing(
    product: Product, given_world: World, seed: int
) -> None:
    rng = Random(seed)
    start_over(product, given_world)
    load(product, portions(given_world.records, rng), rng)
    first, last = days_of(given_world)
    some = first + timedelta(days=rng.randrange((last - first).days))
    product.backfill(some, min(last, some + timedelta(days=rng.randrange(40))))
    assert_answers(product, given_world, "after a backfill of some days")
    product.backfill(first, last)
    assert_answers(product, given_world, "after a backfill of all days")
    product.in_portions()
    product.rebuild()
    assert_answers(product, given_world, "after a rebuild")
    assert product.verify_all(), "verify --all finds differences"


@given(given_world=worlds(), zone=st.sampled_from(["UTC", "America/New_York", "Asia/Kolkata"]))
@EXAMPLES
def test_another_timezone_computes_all_days_anew(
    product: Product, given_world: World, zone: str
) -> None:
    start_over(product, given_world)
    before = [{**row, "timezone": zone} for row in given_world.records["shops"]]
    load(product, portions({**given_world.records, "shops": before}, Random(1)), Random(1))
    product.load("shops", given_world.records["shops"])
    product.rollup()
    assert_answers(product, given_world, f"after moving the shops from {zone}")


def test_a_bigger_world(product: Product) -> None:
    bigger = world(1, size=45)
    rng = Random(1)
    start_over(product, bigger)
    load(product, portions(bigger.records, rng), rng)
    assert_answers(product, bigger, "after the last rollup")
    assert product.verify_all(), "verify --all finds differences"
    assert_answers_of_few_rows(product, bigger, RowLimits(rows=9, values=1))
    assert_answers_of_few_rows(product, bigger, RowLimits(rows=1, values=3))


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

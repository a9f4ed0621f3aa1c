"""What the product promises of any data: the answers are the oracle's, whatever came before.

Random worlds are imported in random order, with repetitions, in random portions with rollups in
between, and every answer is compared with the plain recomputation from the raw records. A failure
prints the portions, the questions and the differences; the worlds shrink to the sessions and
orders that it takes.
"""

import os
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, currently_in_test_context, given, note, settings
from hypothesis import strategies as st

from tests.additive import additive, summed
from tests.oracle import Oracle, UnknownForm, compare
from tests.oracle.records import Row
from tests.oracle.times import resolve_range
from tests.product import Product
from tests.strategies import Portion, portions, seeds, shown, worlds
from tests.worlds import World, world

# A world goes through some ten commands and a thousand questions: a few of them in every run of the
# tests (the first one is always the simplest world), many where there is time (INVARIANT_EXAMPLES=100).
EACH = int(os.environ.get("INVARIANT_EXAMPLES", "2"))

Question = tuple[str, str, dict[str, str]]
"""Shop, path and query."""

EXAMPLES = settings(
    max_examples=EACH,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
    # Each example starts from an emptied warehouse, so sharing the fixture is sound.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    print_blob=True,
)


@pytest.fixture
def product(warehouse_url: str) -> Product:
    return Product(warehouse_url)


def tell(text: str) -> None:
    """Say it with a failure: of the smallest example where there are examples."""
    note(text) if currently_in_test_context() else print(text)


def start_over(product: Product, given: World) -> None:
    """An empty warehouse; a first import, so that there is one to empty."""
    tell(shown(given))
    product.load("shops", given.records["shops"])
    product.empty()


def load(product: Product, files: list[Portion], rng: Random) -> None:
    """Import the files one by one; after some of them, roll up."""
    for number, (kind, rows) in enumerate(files):
        rolled = rng.random() < 0.3
        product.load(kind, rows)
        if rolled:
            product.rollup()
        tell(f"file {number}: {len(rows)} {kind}{', rollup' if rolled else ''}")
    product.rollup()


def asked(given: World) -> Iterator[Question]:
    """Shop, path and query of everything worth asking about a world."""
    for shop_id in given.casts:
        for path, query in given.questions(shop_id):
            for text in given.ranges(shop_id):
                yield shop_id, path, {**query, "range": text} if text else query


def differences(product: Product, given: World, records: dict[str, list[Row]]) -> list[str]:
    """Where the product's answers about a world are not the oracle's."""
    return wrong_answers(product, asked(given), records)


def wrong_answers(
    product: Product, questions: Iterable[Question], records: dict[str, list[Row]]
) -> list[str]:
    """Where the product's answers to questions (shop, path, query) are not the oracle's."""
    oracle = Oracle(records)
    found = []
    for shop_id, path, query in questions:
        now = datetime.now(UTC)
        today = oracle.today(shop_id, now)
        status, body = product.get(path, query, shop_id)
        if oracle.today(shop_id, datetime.now(UTC)) != today:
            continue  # The shop's midnight has passed in between: neither day is wrong.
        if status != 200:
            found.append(f"{shop_id} {path} {query}: status {status} {body}")
            continue
        window = oracle.window(query, shop_id, today)
        if body["meta"]["range"] != window:
            found.append(f"{shop_id} {path} {query}: expected {window}, got {body['meta']}")
        expected = oracle.answer(path, query, shop_id, today, now)
        found += [
            f"{shop_id} {path} {query}: {difference}"
            for difference in compare(path, expected, body["data"])
        ]
    return found


def assert_answers(product: Product, given: World, when: str) -> None:
    found = differences(product, given, given.records)
    assert not found, "\n".join([f"{when}: {len(found)} differences", *found[:40]])


def days_of(given: World) -> tuple[date, date]:
    """Days that hold everything of a world, in any timezone."""
    starts = [at for cast in given.casts.values() for at in cast.moments]
    return min(starts).date() - timedelta(days=1), given.now.date() + timedelta(days=1)


@given(given_world=worlds(), seed=seeds)
@EXAMPLES
def test_any_order_and_portions_give_the_oracles_answers(
    product: Product, given_world: World, seed: int
) -> None:
    rng = Random(seed)
    start_over(product, given_world)
    load(product, portions(given_world.records, rng), rng)
    assert_answers(product, given_world, "after the last rollup")
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

"""The life of a world: whatever happens to it, its answers are the oracle's.

It is imported in any order, with repetitions, in portions with rollups in between, while its shops are in
another time zone. The zone is put right, everything is imported again, an import is undone, days are computed
anew, raw events go, and so does a person. A failure prints the portions, the questions and the differences;
random worlds shrink to the sessions and orders that it takes.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tests.support.answers import assert_answers, days_of
from tests.support.examples import EXAMPLES, load, start_over, tell
from tests.support.forgetting import some_persons, without
from tests.support.loaded import load as load_whole
from tests.support.oracle import RowLimits
from tests.support.product import Product
from tests.support.strategies import portions, seeds, worlds
from tests.support.worlds import World, world

few_rows = st.builds(RowLimits, rows=st.integers(1, 12), values=st.integers(1, 3))


def live(
    product: Product,
    some: World,
    zone: str,
    limits: Sequence[RowLimits],
    rng: Random,
    persons: int | None = None,
) -> None:
    """`persons`: how many are forgotten at most."""
    start_over(product, some)
    shops = [{**row, "timezone": zone} for row in some.records["shops"]]
    elsewhere = replace(some, records={**some.records, "shops": shops})
    load(product, portions(elsewhere.records, rng), rng)
    assert_answers(product, elsewhere, "after the last rollup")

    product.load("shops", some.records["shops"])
    product.rollup()
    assert_answers(product, some, f"after moving the shops from {zone}")
    for few in limits:
        assert_answers_of_few_rows(product, some, few)
    assert product.verify_all(), "verify --all finds differences"

    load_whole(product, some)
    first, last = days_of(some)
    product.load(
        "events", [{**row, "event_id": f"more-{row['event_id']}"} for row in some.records["events"]]
    )
    product.rollup()
    product.undo(product.last_import())
    day = first + timedelta(days=rng.randrange((last - first).days))
    product.backfill(day, min(last, day + timedelta(days=rng.randrange(40))))
    assert_answers(
        product, some, "after importing it all again, an undo, and a backfill of some days"
    )

    product.backfill(first, last)
    assert_answers(product, some, "after a backfill of all days")
    product.in_portions()
    product.rebuild()
    assert_answers(product, some, "after a rebuild")
    assert product.verify_all(), "verify --all finds differences after a rebuild"

    product.purge(raw_days=30)
    forgotten = some_persons(some, rng)[:persons]
    for person in forgotten:
        tell(f"forget {person}")
        product.forget(*person)
    product.rollup()
    assert_answers(product, without(some, forgotten), "after RAW_DAYS, and without some persons")
    assert product.verify_all(), "verify --all finds differences in the end"
    product.close()


def assert_answers_of_few_rows(product: Product, some: World, limits: RowLimits) -> None:
    """With limits that most answers exceed, the first rows and the sums of the others are the oracle's."""
    product.close()
    few = Product(product.url, limits)
    assert_answers(few, some, f"with {limits}")
    few.close()


def test_a_world_keeps_its_answers(product: Product) -> None:
    live(product, world(1, size=45), "Asia/Kolkata", [], Random(1), persons=2)


@given(
    some=worlds(),
    zone=st.sampled_from(["UTC", "America/New_York", "Asia/Kolkata"]),
    limits=few_rows,
    seed=seeds,
)
@EXAMPLES
def test_random_worlds_keep_their_answers(
    product: Product, some: World, zone: str, limits: RowLimits, seed: int
) -> None:
    live(product, some, zone, [limits], Random(seed))

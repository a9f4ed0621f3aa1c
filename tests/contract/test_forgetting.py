"""Persons who are forgotten: the answers are the oracle's of a world in which they never were."""

from random import Random

from hypothesis import given

from tests.support.answers import assert_answers
from tests.support.examples import EXAMPLES, start_over, tell
from tests.support.forgetting import some_persons, without
from tests.support.product import Product
from tests.support.strategies import portions, seeds, worlds
from tests.support.worlds import World


@given(given_world=worlds(), seed=seeds)
@EXAMPLES
def test_forgotten_persons_never_were(product: Product, given_world: World, seed: int) -> None:
    """Whenever they are forgotten: before their rows come, before they are in the figures, or after."""
    rng = Random(seed)
    start_over(product, given_world)
    files = portions(given_world.records, rng)
    persons = some_persons(given_world, rng)
    tell(f"persons: {persons}")
    # The first file has the shops. A person may be forgotten twice.
    moments = {rng.randrange(len(files)): person for person in persons}
    for number, (kind, rows) in enumerate(files):
        product.load(kind, rows)
        rolled = rng.random() < 0.4
        if rolled:
            product.rollup()
        tell(f"file {number}: {len(rows)} {kind}{', rollup' if rolled else ''}")
        if rng.random() < 0.2:
            days = rng.choice((1, 6, 30))
            product.purge(days)
            tell(f"purge with RAW_DAYS={days}")
        if number in moments:
            tell(f"{moments[number]}: {product.forget(*moments[number])}")
    for person in persons:
        product.forget(*person)
    product.rollup()
    left = without(given_world, persons)
    assert_answers(product, left, "after the last rollup")
    assert product.verify_all(), "verify --all finds differences"
    for kind, rows in files:
        product.load(kind, rows)
    product.rollup()
    assert_answers(product, left, "after importing it all again")
    assert product.verify_all(), "verify --all finds differences in the end"

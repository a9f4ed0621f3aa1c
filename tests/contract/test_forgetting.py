"""Persons who are forgotten: the answers are the oracle's of a world in which they never were, or of one in
which their orders are nobody's."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tests.support.additive import MONEY
from tests.support.answers import assert_answers, days_of
from tests.support.examples import EXAMPLES, start_over, tell
from tests.support.forgetting import some_persons, without
from tests.support.product import Product
from tests.support.strategies import portions, seeds, worlds
from tests.support.worlds import World


def revenue(product: Product, given_world: World) -> dict[str, dict[str, int]]:
    """By shop, what the four rows of its attribution add up to."""
    first, last = days_of(given_world)
    found = {}
    for shop_id in given_world.casts:
        _, body = product.get("/v1/attribution", {"range": f"{first}..{last}"}, shop_id)
        found[shop_id] = {name: sum(row[name] for row in body["data"]) for name in MONEY}
    return found


@given(given_world=worlds(), seed=seeds, keep_orders=st.booleans())
@EXAMPLES
def test_forgotten_persons_never_were(
    product: Product, given_world: World, seed: int, keep_orders: bool
) -> None:
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
            printed = product.forget(*moments[number], keep_orders=keep_orders)
            tell(f"{moments[number]}: {printed}")
    product.rollup()
    before = revenue(product, given_world)
    for person in persons:
        product.forget(*person, keep_orders=keep_orders)
    if keep_orders:
        assert revenue(product, given_world) == before
    product.rollup()
    left = without(given_world, persons, keep_orders=keep_orders)
    assert_answers(product, left, "after the last rollup")
    assert product.verify_all(), "verify --all finds differences"
    for kind, rows in files:
        product.load(kind, rows)
    product.rollup()
    assert_answers(product, left, "after importing it all again")
    assert product.verify_all(), "verify --all finds differences in the end"

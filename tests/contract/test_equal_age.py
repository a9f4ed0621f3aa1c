"""Outcomes by age are those of a recomputation from raw rows, whatever happens to the rows: orders come late,
move to another instant with the same money, are cancelled, become tests or somebody else's; submissions come
late and take orders over; imports are undone, persons are forgotten, days and editions are computed anew."""

from datetime import timedelta
from random import Random

from hypothesis import given

from tests.support.answers import days_of
from tests.support.equal_age import wrong_outcomes
from tests.support.examples import EXAMPLES, load, start_over, tell
from tests.support.forgetting import some_persons, without
from tests.support.oracle.records import Row
from tests.support.oracle.times import instant
from tests.support.product import Product
from tests.support.strategies import portions, seeds, worlds
from tests.support.worlds import World, world
from tests.support.worlds.cast import CUSTOMERS

_MOVES = (
    timedelta(days=-1),
    timedelta(days=1),
    timedelta(microseconds=-1),
    timedelta(hours=-30),
    timedelta(days=3),
)


def moved(orders: list[Row], some: World, rng: Random) -> list[Row]:
    """Later versions of some orders: at another instant, cancelled, a test, or of another customer."""
    versions = []
    for number, row in enumerate(rng.sample(orders, len(orders) // 2)):
        at = instant(row["created_at"]) + rng.choice(_MOVES)
        changes: list[Row] = [
            {"created_at": min(at, some.now).isoformat()},
            {"cancelled_at": some.now.isoformat()},
            {"test": True},
            {"customer_id": rng.choice(CUSTOMERS)},
        ]
        # After all other versions, and no two of an order at once.
        stamp = some.now + timedelta(hours=1, seconds=number)
        chosen = rng.choices(changes, weights=(6, 1, 1, 2))[0]
        versions.append({**row, **chosen, "updated_at": stamp.isoformat()})
    return versions


def live(product: Product, some: World, rng: Random) -> None:
    start_over(product, some)
    records = {kind: list(rows) for kind, rows in some.records.items()}

    def is_right(when: str) -> None:
        found = wrong_outcomes(product, some, records)
        assert not found, "\n".join([f"{when}: {len(found)} differences", *found[:20]])

    load(product, portions(records, rng), rng)
    is_right("after the imports")
    versions = moved(records["orders"], some, rng)
    if versions:
        tell(f"moved: {versions}")
        product.load("orders", versions)
        product.rollup()
        last = product.last_import()
        records["orders"] = [*some.records["orders"], *versions]
        is_right("after later versions of orders")
        assert product.verify_all(), "verify --all finds differences"
        if rng.random() < 0.5:
            product.undo(last)
            records["orders"] = some.records["orders"]
            is_right("after an undo")
    first, until = days_of(some)
    day = first + timedelta(days=rng.randrange((until - first).days))
    product.backfill(day, day)
    is_right("after a backfill of a day")
    for person in some_persons(some, rng):
        tell(f"forget {person}")
        product.forget(*person)
        records |= without(World(some.seed, some.now, records, some.casts), [person]).records
    product.rollup()
    is_right("without some persons")
    product.rebuild()
    is_right("after a rebuild")
    assert product.verify_all(), "verify --all finds differences in the end"


def test_a_world_at_any_age(product: Product) -> None:
    live(product, world(2, size=45), Random(2))


@given(some=worlds(size=20), seed=seeds)
@EXAMPLES
def test_random_worlds_at_any_age(product: Product, some: World, seed: int) -> None:
    live(product, some, Random(seed))

"""Raw events older than RAW_DAYS go: the answers are the oracle's of a world in which all of them stay."""

from dataclasses import replace
from random import Random

from hypothesis import given

from tests.support.answers import assert_answers
from tests.support.examples import EXAMPLES, start_over, tell
from tests.support.product import Product
from tests.support.strategies import portions, seeds, worlds
from tests.support.worlds import World
from warehouse.connections.arrow import open_arrow
from warehouse.domain.time import MICROS_PER_DAY


def events_older_than(product: Product, days: int) -> int:
    """How many raw events are older."""
    with open_arrow(product.url) as connection:
        before = connection.now_micros() - days * MICROS_PER_DAY
        return int(
            connection.value("SELECT COUNT(*) FROM raw_event WHERE occurred_at < $1", before)
        )


@given(given_world=worlds(), seed=seeds)
@EXAMPLES
def test_every_figure_stays(product: Product, given_world: World, seed: int) -> None:
    """With late events, files that come again, rebuilds, backfills and another time zone."""
    rng = Random(seed)
    start_over(product, given_world)
    files = portions(given_world.records, rng)
    for number, (kind, rows) in enumerate(files):
        product.load(kind, rows)
        tell(f"file {number}: {len(rows)} {kind}")
        if rng.random() < 0.5:
            product.rollup()
            tell("rollup")
        if rng.random() < 0.4:
            days = rng.choice((1, 6, 29, 31, 60))
            product.purge(days)
            tell(f"purge with RAW_DAYS={days}")
        again = rng.randrange(number + 1)
        # The last import of the other kinds wins.
        if files[again][0] in ("events", "orders") and rng.random() < 0.3:
            product.load(*files[again])
            tell(f"file {again} again")
    product.rollup()
    assert_answers(product, given_world, "after the last rollup")
    assert product.verify_all(), "verify --all finds differences"
    product.purge(1)
    assert not events_older_than(product, 2)
    product.rebuild()
    assert_answers(product, given_world, "after a rebuild")
    shops = [
        row | {"timezone": rng.choice(("Asia/Kolkata", "UTC"))}
        for row in given_world.records["shops"]
    ]
    product.load("shops", shops)
    product.rollup()
    records = given_world.records | {"shops": shops}
    assert_answers(product, replace(given_world, records=records), "in another time zone")
    assert product.verify_all(), "verify --all finds differences in the end"

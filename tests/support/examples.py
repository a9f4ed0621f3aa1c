"""Examples of random worlds: how many a test tries, how each begins, and how it is imported."""

from random import Random

from hypothesis import HealthCheck, Phase, currently_in_test_context, note, settings

from tests.support.depth import INVARIANT_EXAMPLES
from tests.support.product import Product
from tests.support.strategies import Portion, shown
from tests.support.worlds import World

EXAMPLES = settings(
    max_examples=INVARIANT_EXAMPLES,
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
    # Each example starts from an emptied warehouse, so sharing the fixture is sound.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    print_blob=True,
)


def tell(text: str) -> None:
    """Say it with a failure: of the smallest example where there are examples."""
    note(text) if currently_in_test_context() else print(text)


def start_over(product: Product, given: World) -> None:
    """An empty warehouse."""
    tell(shown(given))
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

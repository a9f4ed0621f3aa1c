"""Examples of random worlds: how many a test tries, and how each begins."""

from hypothesis import HealthCheck, Phase, currently_in_test_context, note, settings

from tests.support.depth import INVARIANT_EXAMPLES
from tests.support.product import Product
from tests.support.strategies import shown
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

"""How often a page shows a colour where nothing has changed, and whether it does where something has. The
whole simulation: `python -m tests.web.dashboard.still_shops`."""

import numpy as np
import pytest

from tests.web.dashboard.still_shops import SHOPS, falls_found, views_with_colour

VIEWS = 60


@pytest.mark.parametrize("name", SHOPS)
def test_a_still_shop_has_no_colour_in_19_of_20_views(name: str) -> None:
    """With two standard errors, of so few views."""
    found = views_with_colour(SHOPS[name], VIEWS, np.random.default_rng(3))
    assert len(found) == 5
    most = 0.05 + 2 * (0.05 * 0.95 / VIEWS) ** 0.5
    assert max(found.values()) <= most * VIEWS, found


def test_revenue_that_falls_by_a_third_is_found() -> None:
    assert falls_found(SHOPS["as the demo"], 20, np.random.default_rng(4)) >= 15

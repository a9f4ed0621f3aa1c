"""All orders of a shop, by effective UTM."""

import pandas as pd

from jobs.facts.frames import Facts
from jobs.rollups.summing import part, total


def rollup(facts: Facts) -> pd.DataFrame:
    """Orders by attribution type and effective UTM (0: none), on the day of the order."""
    return total("utm_order", part(facts.orders, orders=1, gross="gross", refunded="refunded"))

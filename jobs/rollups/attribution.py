"""All orders of a shop, by how they were attributed."""

import pandas as pd

from jobs.facts.frames import Facts
from jobs.rollups.summing import part, total


def rollup(facts: Facts) -> pd.DataFrame:
    """Orders by attribution type, the unattributed among them, on the day of the order."""
    return total("attribution", part(facts.orders, orders=1, gross="gross", refunded="refunded"))

"""Orders of each form on their own day: the order clock."""

import pandas as pd

from jobs.columns import ints, only
from jobs.facts.frames import Facts
from jobs.rollups.summing import part, total
from warehouse.vocabulary import UNATTRIBUTED


def rollup(facts: Facts) -> pd.DataFrame:
    """Orders credited to a submission, by the submission's form, on the day of the order."""
    credited = only(facts.orders, ints(facts.orders, "type") != UNATTRIBUTED)
    return total("credit", part(credited, orders=1, gross="gross", refunded="refunded"))

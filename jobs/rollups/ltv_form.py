"""Lifetime value of the customers that each form acquired."""

import pandas as pd

from jobs.codes import code, earliest
from jobs.columns import take
from jobs.facts.frames import Facts
from jobs.rollups.lifetime import LIFETIME, acquirers
from jobs.rollups.summing import Part, total


def rollup(facts: Facts) -> pd.DataFrame:
    """Customers by form, on the day of their first submission to it, and what came of them.

    Orders of the same customer from that submission on count, whatever they are attributed to;
    `net_H` only those less than H * 24 h after it. Customer 0 is nobody.

    The unit is the customer: `facts` must hold all submissions and orders of each that it holds at
    all.
    """
    rows = acquirers(facts.sessions, facts.orders)
    units = code(rows["customer"], rows["form"]).dense()
    first = earliest(units, rows["submitted_at"])
    return total("ltv_form", Part(take(rows, first, [*rows]), LIFETIME))

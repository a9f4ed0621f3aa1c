"""Lifetime value of the customers by what they answered."""

import pandas as pd

from jobs.codes import code, earliest, lookup
from jobs.columns import ints, take
from jobs.facts.frames import Facts
from jobs.rollups.lifetime import LIFETIME, acquirers
from jobs.rollups.summing import Part, total


def rollup(facts: Facts) -> pd.DataFrame:
    """Customers by field and value, on the day of their first submission with that answer.

    Equal field ids of different forms are one field; only values that can be aggregated count. The
    rest is as in `ltv_form`; of each customer that `facts` holds, all answers must be there too.
    """
    rows = acquirers(facts.sessions, facts.orders)
    chosen = facts.answers[facts.answers["value"] != 0]
    place = lookup(rows["session"], ints(chosen, "session"))
    answers = take(chosen, place >= 0, ["field", "value"])
    place = place[place >= 0]
    units = code(rows["customer"][place], answers["field"], answers["value"]).dense()
    first = earliest(units, rows["submitted_at"][place])
    acquired = take(rows, place[first], [*rows])
    acquired |= take(answers, first, ["field", "value"])
    return total("ltv_segment", Part(acquired, LIFETIME))

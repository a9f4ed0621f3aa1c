"""The funnel of each form."""

import pandas as pd

from jobs.facts.frames import Facts
from jobs.rollups.submissions import milestones_and_outcome
from jobs.rollups.summing import total


def rollup(facts: Facts) -> pd.DataFrame:
    """Form sessions by form: each milestone counts once, on the day on which it first happened.

    Submissions, those that converted, and all their orders to date are on the submission's day.
    """
    return total("funnel", *milestones_and_outcome(facts.sessions))

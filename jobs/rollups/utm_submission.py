"""Submissions of a shop, by UTM."""

import pandas as pd

from jobs.facts.frames import Facts
from jobs.rollups.submissions import submissions
from jobs.rollups.summing import part, total


def rollup(facts: Facts) -> pd.DataFrame:
    """Submissions and those that converted, by UTM (0: none), on the submission's day."""
    rows = submissions(facts.sessions)
    return total("utm_submission", part(rows, submissions=1, converted="converted"))

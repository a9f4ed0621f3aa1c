"""The milestones of all forms of a shop."""

import pandas as pd

from jobs.facts.frames import Facts
from jobs.rollups.submissions import milestones_and_outcome
from jobs.rollups.summing import total
from warehouse.catalogue import SUMMARY


def rollup(facts: Facts) -> pd.DataFrame:
    """As `funnel`, of which it has some of the measures."""
    measures = {*SUMMARY["all_forms"].measures}
    parts = milestones_and_outcome(facts.sessions)
    return total("all_forms", *(part for part in parts if measures & part.columns.keys()))

"""The funnel of each form, by the device of its sessions."""

import pandas as pd

from jobs.facts.frames import Facts
from jobs.rollups.submissions import milestones_and_outcome
from jobs.rollups.summing import total


def rollup(facts: Facts) -> pd.DataFrame:
    """As `funnel`, by form and device."""
    return total("device", *milestones_and_outcome(facts.sessions))

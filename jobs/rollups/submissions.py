"""The submission clock: what rollups ask of form sessions that became submissions."""

from typing import Final

import numpy as np
import pandas as pd

from jobs.rollups.summing import Part, Value, part
from warehouse.days import NO_DAY

# The measures of `submissions`, all on the submission's day.
OUTCOME: Final[dict[str, Value]] = {
    "submissions": 1,
    "converted": "converted",
    "orders": "orders",
    "gross": "gross",
    "refunded": "refunded",
}

_KEPT: Final = [
    "edition",
    "session",
    "form",
    "device",
    "utm",
    "customer",
    "submitted_at",
    "orders",
    "gross",
    "refunded",
]


def submissions(sessions: pd.DataFrame) -> pd.DataFrame:
    """The submitted sessions, with `day` (of the submission) and `converted` (1: has an order)."""
    submitted = sessions["submit_day"] != NO_DAY
    kept = sessions.loc[submitted, _KEPT].reset_index(drop=True)
    kept["day"] = sessions.loc[submitted, "submit_day"].to_numpy()
    kept["converted"] = (kept["orders"] > 0).astype(np.int64)
    return kept


def milestones_and_outcome(sessions: pd.DataFrame) -> list[Part]:
    """Each milestone on the day on which it first happened, the outcome on the submission's."""
    return [
        part(sessions, day="view_day", views=1),
        part(sessions, day="start_day", starts=1),
        part(sessions, day="subscribe_day", subscriptions=1),
        part(sessions, day="complete_day", completions=1),
        Part(submissions(sessions), OUTCOME),
    ]

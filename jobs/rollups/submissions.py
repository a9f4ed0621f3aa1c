"""The submission clock: what rollups ask of form sessions that became submissions."""

from typing import Final

import numpy as np

from jobs.codes import Column
from jobs.columns import Source, ints, take
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


def submissions(sessions: Source) -> dict[str, Column]:
    """The submitted sessions' columns, with `day` (of the submission) and `converted` (1: has an
    order)."""
    days = ints(sessions, "submit_day")
    submitted = np.flatnonzero(days != NO_DAY)
    kept = take(sessions, submitted, _KEPT)
    return kept | {
        "day": days[submitted],
        "converted": (kept["orders"] > 0).astype(np.int64),
    }


def milestones_and_outcome(sessions: Source) -> list[Part]:
    """Each milestone on the day on which it first happened, the outcome on the submission's."""
    return [
        part(sessions, day="view_day", views=1),
        part(sessions, day="start_day", starts=1),
        part(sessions, day="subscribe_day", subscriptions=1),
        part(sessions, day="complete_day", completions=1),
        Part(submissions(sessions), OUTCOME),
    ]

"""Submissions: form sessions that subscribed or completed, and the parts of a summary that they fill."""

from collections.abc import Iterable
from typing import Final

import numpy as np

from jobs.arrays.columns import Columns, int_column, take
from jobs.arrays.group_keys import Column
from jobs.rollups.group_sum import Part, Value
from warehouse.catalogue import MILESTONES, OUTCOMES, REVENUE
from warehouse.domain.time import NO_DAY

# The measures of `submissions`, all on the submission's day.
OUTCOME_VALUES: Final[dict[str, Value]] = {
    name: 1 if name == "submissions" else name for name in OUTCOMES
}

_KEPT: Final = ["edition", "session", "form", "device", "utm", "customer", "submitted_at", *REVENUE]


def submissions(sessions: Columns) -> dict[str, Column]:
    """The submitted sessions: edition, session, form, device, utm, customer, submitted_at, orders,
    gross, refunded, `day` (of the submission) and `converted` (1: it has an order)."""
    days = int_column(sessions, "submit_day")
    submitted = np.flatnonzero(days != NO_DAY)
    kept = take(sessions, submitted, _KEPT)
    return kept | {
        "day": days[submitted],
        "converted": (kept["orders"] > 0).astype(np.int64),
    }


def milestone_parts(sessions: Columns, measures: Iterable[str]) -> list[Part]:
    """The milestones among the measures, each on the day on which it first happened."""
    return [
        Part(sessions, {"day": milestone.day, milestone.measure: 1})
        for milestone in MILESTONES
        if milestone.measure in measures
    ]


def outcome_part(sessions: Columns) -> Part:
    """The outcomes of the submissions, on the submission's day."""
    return Part(submissions(sessions), OUTCOME_VALUES)

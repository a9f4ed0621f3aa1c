"""Durations of completed sessions, in log-spaced buckets."""

from typing import Final

import numpy as np

from jobs.arrays.columns import int_column, take
from jobs.facts.facts import Facts
from jobs.rollups.parts import DailyRows, Part, part, total
from warehouse.catalogue import ATTRIBUTES
from warehouse.daily.log_histogram import bucket_of
from warehouse.domain.time import NEVER

_READ: Final = [
    "edition",
    "complete_day",
    "form",
    *ATTRIBUTES,
    "started_at",
    "viewed_at",
    "first_at",
    "completed_at",
]


def time_to_complete(facts: Facts) -> DailyRows:
    """Completed sessions by form, device and bucket of their duration, on the day of completion.

    From the first start (where none, the first view; where neither, the first event) to the first
    completion, in microseconds. Events out of order can make it negative: then it is 0.
    """
    return total("time_to_complete", _completed(facts))


def crossed_time(facts: Facts) -> DailyRows:
    """The measures of `time_to_complete`, by all ATTRIBUTES."""
    return total("crossed_time", _completed(facts))


def _completed(facts: Facts) -> Part:
    completed = int_column(facts.sessions, "completed_at") != NEVER
    rows = take(facts.sessions, completed, _READ)
    begun = np.where(rows["viewed_at"] != NEVER, rows["viewed_at"], rows["first_at"])
    begun = np.where(rows["started_at"] != NEVER, rows["started_at"], begun)
    duration = np.maximum(rows["completed_at"] - begun, 0)
    return part(
        rows, day="complete_day", bucket=bucket_of(duration), completions=1, duration=duration
    )

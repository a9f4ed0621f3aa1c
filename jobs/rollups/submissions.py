"""Submissions (form sessions that subscribed or completed), their outcomes, and parts of summaries."""

from collections.abc import Iterable
from typing import Final

import numpy as np

from jobs.arrays.columns import Columns, int_column, take
from jobs.arrays.group_keys import Column, earliest, group_keys, index_of
from jobs.facts.facts import Facts
from jobs.rollups.parts import Part, Value
from warehouse.catalogue import ATTRIBUTES, MILESTONES, OUTCOMES, REVENUE
from warehouse.domain.time import MICROS_PER_DAY, NO_DAY

# The measures of `outcomes`.
OUTCOME_VALUES: Final[dict[str, Value]] = {name: name for name in OUTCOMES}

_OF_SESSION: Final = ["edition", "session", "form", "visitor", *ATTRIBUTES]


def submissions(sessions: Columns) -> dict[str, Column]:
    """The submitted sessions: edition, session, form, visitor, ATTRIBUTES, customer, submitted_at, orders,
    gross, refunded, `day` (of the submission) and `converted` (1: it has an order)."""
    days = int_column(sessions, "submit_day")
    submitted = np.flatnonzero(days != NO_DAY)
    kept = take(sessions, submitted, [*_OF_SESSION, "customer", "submitted_at", *REVENUE])
    return kept | {
        "day": days[submitted],
        "converted": (kept["orders"] > 0).astype(np.int64),
    }


def outcomes(facts: Facts) -> dict[str, Column]:
    """The orders that are credited to submissions: edition, session, day, form, visitor, ATTRIBUTES of the
    submission; `delay`, in whole days of 24 h after it; `converted` (1: its first order); orders (1), gross,
    refunded.

    Orders at the same instant have the same delay, so it makes no difference which one is the first.
    """
    submitted = submissions(facts.sessions)
    index = index_of(submitted["session"], int_column(facts.orders, "session"))
    orders = take(facts.orders, index >= 0, ["created_at", "gross", "refunded"])
    index = index[index >= 0]
    created_at = orders.pop("created_at")
    converted = np.zeros(len(index), np.int64)
    converted[earliest(group_keys(index).dense(), created_at)] = 1
    return {
        **take(submitted, index, [*_OF_SESSION, "day"]),
        "delay": (created_at - submitted["submitted_at"][index]) // MICROS_PER_DAY,
        "converted": converted,
        "orders": np.ones(len(index), np.int64),
        **orders,
    }


def milestone_parts(sessions: Columns, measures: Iterable[str]) -> list[Part]:
    """The milestones among the measures, each on the day on which it first happened."""
    return [
        Part(sessions, {"day": milestone.day, milestone.measure: 1})
        for milestone in MILESTONES
        if milestone.measure in measures
    ]


def submission_part(sessions: Columns) -> Part:
    """The submissions, on their day."""
    return Part(submissions(sessions), {"submissions": 1})

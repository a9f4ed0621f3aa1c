"""The funnel: milestones, submissions and outcomes of form sessions, by form, by device, by all that they can
be filtered by, and of all forms."""

import numpy as np

from jobs.arrays.columns import int_column, take
from jobs.arrays.group_keys import index_of
from jobs.facts.facts import Facts
from jobs.rollups.parts import DailyRows, Part, part, total
from jobs.rollups.submissions import (
    OUTCOME_VALUES,
    milestone_parts,
    outcomes,
    submission_part,
)
from warehouse.catalogue import ATTRIBUTES, MILESTONE_MEASURES, SUMMARY


def funnel(facts: Facts) -> DailyRows:
    """Form sessions by form: each milestone and the submission once, on the day of its first event."""
    return total("funnel", *_parts(facts))


def device(facts: Facts) -> DailyRows:
    """The measures of `funnel`, by form and device."""
    return total("device", *_parts(facts))


def crossed_session(facts: Facts) -> DailyRows:
    """The measures of `funnel`, by form, visitor and ATTRIBUTES; and the quarters of an hour with an
    event."""
    index = index_of(int_column(facts.sessions, "session"), int_column(facts.quarters, "session"))
    rows = take(facts.quarters, np.arange(len(index)), ["edition", "day"])
    rows |= take(facts.sessions, index, ["form", "visitor", *ATTRIBUTES])
    return total("crossed_session", part(rows, events=1), *_parts(facts))


def outcome(facts: Facts) -> DailyRows:
    """The orders credited to submissions, by form, device and delay, on the submission's day."""
    return total("outcome", Part(outcomes(facts), OUTCOME_VALUES))


def crossed_outcome(facts: Facts) -> DailyRows:
    """Outcomes by form, visitor, ATTRIBUTES and delay."""
    return total("crossed_outcome", Part(outcomes(facts), OUTCOME_VALUES))


def all_forms(facts: Facts) -> DailyRows:
    """Every event, milestone or not, and some milestones of `funnel`, by form."""
    milestones = milestone_parts(facts.sessions, SUMMARY["all_forms"].measures)
    return total("all_forms", part(facts.events, events=1), *milestones)


def _parts(facts: Facts) -> list[Part]:
    milestones = milestone_parts(facts.sessions, MILESTONE_MEASURES)
    return [*milestones, submission_part(facts.sessions)]

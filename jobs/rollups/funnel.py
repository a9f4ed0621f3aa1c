"""The funnel: milestones and outcomes of form sessions, by form, by device, and of all forms."""

import pandas as pd

from jobs.facts.facts import Facts
from jobs.rollups.group_sum import part, total
from jobs.rollups.submissions import milestone_parts, outcome_part
from warehouse.catalogue import MILESTONE_MEASURES, SUMMARY


def funnel(facts: Facts) -> pd.DataFrame:
    """Form sessions by form: each milestone counts once, on the day on which it first happened.

    Submissions, those that converted, and all their orders to date are on the submission's day.
    """
    milestones = milestone_parts(facts.sessions, MILESTONE_MEASURES)
    return total("funnel", *milestones, outcome_part(facts.sessions))


def device(facts: Facts) -> pd.DataFrame:
    """As `funnel`, by form and device."""
    milestones = milestone_parts(facts.sessions, MILESTONE_MEASURES)
    return total("device", *milestones, outcome_part(facts.sessions))


def all_forms(facts: Facts) -> pd.DataFrame:
    """Some milestones of `funnel`, by form."""
    return total("all_forms", *milestone_parts(facts.sessions, SUMMARY["all_forms"].measures))


def events(rows: pd.DataFrame) -> pd.DataFrame:
    """Events by form, on their day. `rows`: edition, day, form; a row per event.

    The one rollup of raw events instead of facts: an event that reached no milestone counts, too.
    """
    return total("events", part(rows, events=1))

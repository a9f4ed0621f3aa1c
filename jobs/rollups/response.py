"""Submissions by what they answered, and what came of them."""

import numpy as np

from jobs.arrays.columns import int_column, take
from jobs.arrays.group_keys import index_of, join
from jobs.facts.facts import Facts
from jobs.rollups.parts import DailyRows, Part, part, total
from jobs.rollups.submissions import OUTCOME_VALUES, outcomes, submissions


def response(facts: Facts) -> DailyRows:
    """Submissions by form, field and chosen value, on the submission's day.

    A submission that chose several values counts under each of them. Under value 0 it counts once
    if it answered the field at all; there, `lists` counts it if its answer is a list.
    """
    submitted = submissions(facts.sessions)
    index = index_of(submitted["session"], int_column(facts.answers, "session"))
    answers = take(facts.answers, index >= 0, ["edition", "field", "value", "listed"])
    answers |= take(submitted, index[index >= 0], ["day", "form"])
    lists = np.where(answers["value"] == 0, answers["listed"], 0)
    return total("response", part(answers, submissions=1, lists=lists))


def response_outcome(facts: Facts) -> DailyRows:
    """The orders credited to submissions, by form, field, value and delay, on the submission's day.

    An order counts under each value under which its submission does in `response`.
    """
    credited = outcomes(facts)
    order, answer = join([credited["session"]], [int_column(facts.answers, "session")])
    rows = take(credited, order, list(credited)) | take(facts.answers, answer, ["field", "value"])
    return total("response_outcome", Part(rows, OUTCOME_VALUES))

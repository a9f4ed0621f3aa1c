"""Submissions by what they answered, and what came of them."""

from typing import Final

import numpy as np

from jobs.arrays.columns import int_column, take
from jobs.arrays.group_keys import Column, group_keys, index_of, join
from jobs.facts.facts import Facts
from jobs.rollups.parts import DailyRows, Part, part, total
from jobs.rollups.submissions import OUTCOME_VALUES, outcomes, submissions
from warehouse.catalogue import ATTRIBUTES

_MORE_THAN_ANY: Final = np.iinfo(np.int64).max


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


def crossed_response(facts: Facts) -> DailyRows:
    """Submissions by form, field, chosen value and ATTRIBUTES, on the submission's day.

    Value 0 only where nothing was chosen. `is_one` is 1 in one row of each answer; `lists` counts it there.
    """
    submitted = submissions(facts.sessions)
    answers = _chosen(facts)
    index = index_of(submitted["session"], answers["session"])
    answers = take(answers, index >= 0, ["edition", "field", "value", "is_one", "listed"])
    answers |= take(submitted, index[index >= 0], ["day", "form", *ATTRIBUTES])
    lists = answers["listed"] * answers["is_one"]
    return total("crossed_response", part(answers, submissions=1, lists=lists))


def response_outcome(facts: Facts) -> DailyRows:
    """The orders credited to submissions, by form, field, value and delay, on the submission's day.

    An order counts under each value under which its submission does in `response`.
    """
    credited = outcomes(facts)
    order, answer = join([credited["session"]], [int_column(facts.answers, "session")])
    rows = take(credited, order, list(credited)) | take(facts.answers, answer, ["field", "value"])
    return total("response_outcome", Part(rows, OUTCOME_VALUES))


def crossed_response_outcome(facts: Facts) -> DailyRows:
    """The orders credited to submissions, by form, field, value, ATTRIBUTES and delay, on the submission's
    day; in rows as `crossed_response` has them."""
    credited, answers = outcomes(facts), _chosen(facts)
    order, answer = join([credited["session"]], [answers["session"]])
    rows = take(credited, order, list(credited)) | take(
        answers, answer, ["field", "value", "is_one"]
    )
    return total("crossed_response_outcome", Part(rows, OUTCOME_VALUES))


def _chosen(facts: Facts) -> dict[str, Column]:
    """The chosen values of answers, and the answers that chose none: edition, session, field, value, listed;
    `is_one` is 1 for the smallest value of an answer, and for one without any."""
    names = ["edition", "session", "field", "value", "listed"]
    answers = take(facts.answers, np.arange(len(facts.answers)), names)
    keys = group_keys(answers["session"], answers["field"]).dense()
    is_chosen = answers["value"] != 0
    smallest = np.full(keys.size, _MORE_THAN_ANY)
    np.minimum.at(smallest, keys.keys[is_chosen], answers["value"][is_chosen])
    of_answer = smallest[keys.keys]
    is_kept = is_chosen | (of_answer == _MORE_THAN_ANY)
    is_one = ~is_chosen | (answers["value"] == of_answer)
    return take(answers | {"is_one": is_one}, is_kept, [*names, "is_one"])

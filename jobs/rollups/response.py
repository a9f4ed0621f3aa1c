"""Submissions by what they answered, and what came of them."""

import numpy as np
import pandas as pd

from jobs.arrays.columns import int_column, take
from jobs.arrays.group_keys import index_of
from jobs.facts.facts import Facts
from jobs.rollups.group_sum import Part, total
from jobs.rollups.submissions import OUTCOME_VALUES, submissions


def response(facts: Facts) -> pd.DataFrame:
    """Submissions by form, field and chosen value, on the submission's day.

    A submission that chose several values counts under each of them. Under value 0 it counts once
    if it answered the field at all; there, `lists` counts it if its answer is a list.
    """
    submitted = submissions(facts.sessions)
    index = index_of(submitted["session"], int_column(facts.answers, "session"))
    answers = take(facts.answers, index >= 0, ["edition", "field", "value", "listed"])
    measures = [name for name in OUTCOME_VALUES if name != "submissions"]
    answers |= take(submitted, index[index >= 0], ["day", "form", *measures])
    lists = np.where(answers["value"] == 0, answers["listed"], 0)
    return total("response", Part(answers, {**OUTCOME_VALUES, "lists": lists}))

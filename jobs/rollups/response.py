"""What submissions answered, and what came of them."""

import numpy as np
import pandas as pd

from jobs.codes import lookup
from jobs.columns import ints, take
from jobs.facts.frames import Facts
from jobs.rollups.submissions import OUTCOME, submissions
from jobs.rollups.summing import Part, total


def rollup(facts: Facts) -> pd.DataFrame:
    """Submissions by form, field and chosen value, on the submission's day.

    A submission that chose several values counts under each of them. Under value 0 it counts once
    where it answered the field at all, and there `lists` counts it where its answer is a list.
    """
    submitted = submissions(facts.sessions)
    place = lookup(submitted["session"], ints(facts.answers, "session"))
    answers = take(facts.answers, place >= 0, ["edition", "field", "value", "listed"])
    measures = [name for name in OUTCOME if name != "submissions"]
    answers |= take(submitted, place[place >= 0], ["day", "form", *measures])
    lists = np.where(answers["value"] == 0, answers["listed"], 0)
    return total("response", Part(answers, {**OUTCOME, "lists": lists}))

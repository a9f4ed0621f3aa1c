"""Steps of a form: how many sessions viewed them, completed them, and left there."""

import numpy as np
import pandas as pd

from jobs.arrays.columns import int_column, take
from jobs.arrays.group_keys import Column, index_of
from jobs.facts.facts import Facts
from jobs.rollups.parts import DailyRows, Part, part, total
from warehouse.catalogue import ATTRIBUTES
from warehouse.domain.time import NEVER

# The criteria for the step that a session viewed last, the strongest first.
_LAST_BY = ("viewed_at", "step_index")


def step(facts: Facts) -> DailyRows:
    """Sessions by form and step, all on the day of the session's first view of the step.

    A session drops off at the step that it viewed last (ties: the greater index, then the greater
    id), if it completed neither that step nor the form. A step without a view counts nowhere.
    """
    return total("step", _viewed(facts))


def crossed_step(facts: Facts) -> DailyRows:
    """The measures of `step`, by ATTRIBUTES of the session too."""
    return total("crossed_step", _viewed(facts))


def _viewed(facts: Facts) -> Part:
    viewed = int_column(facts.steps, "viewed_at") != NEVER
    steps = take(facts.steps, viewed, ["edition", "step", "view_day", "completed_at", *_LAST_BY])
    sessions = int_column(facts.sessions, "session")
    index = index_of(sessions, int_column(facts.steps, "session")[viewed])
    completed = steps["completed_at"] != NEVER
    left = ~completed & (int_column(facts.sessions, "completed_at")[index] == NEVER)
    dropoffs = np.zeros(len(index), np.int64)
    # The steps that are their session's last; several where they tie in all of _LAST_BY.
    last = np.arange(len(index))
    for name in _LAST_BY:
        column = steps[name][last]
        greatest = np.full(len(sessions), np.iinfo(np.int64).min)
        np.maximum.at(greatest, index[last], column)
        last = last[column == greatest[index[last]]]
    dropoffs[_greater_ids(facts.steps["step_id"][viewed], index, last)] = 1
    return part(
        steps | take(facts.sessions, index, ["form", *ATTRIBUTES]),
        day="view_day",
        views=1,
        completions=completed.astype(np.int64),
        dropoffs=dropoffs * left,
    )


def _greater_ids(ids: pd.Series, session: Column, rows: Column) -> Column:
    """Rows that share a session reduced to the one with the greater id, by its text."""
    candidates = pd.DataFrame({"row": rows, "session": session[rows]})
    tied = candidates.duplicated("session", keep=False)
    if not tied.any():
        return rows
    few = candidates[tied].assign(id=ids.iloc[candidates.loc[tied, "row"]].to_numpy())
    chosen = few.sort_values(["session", "id"]).drop_duplicates("session", keep="last")
    return np.concatenate([candidates.loc[~tied, "row"].to_numpy(), chosen["row"].to_numpy()])

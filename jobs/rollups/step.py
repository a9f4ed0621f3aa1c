"""Steps of a form: how many sessions saw them, completed them, and left there."""

import numpy as np
import pandas as pd

from jobs.codes import Column, lookup
from jobs.columns import ints, size, take
from jobs.facts.frames import Facts
from jobs.rollups.summing import part, total
from warehouse.days import NEVER

# What makes a step the last one that a session viewed, the strongest first.
_LAST_BY = ("viewed_at", "step_index")


def rollup(facts: Facts) -> pd.DataFrame:
    """Sessions by form and step, all on the day of the session's first view of the step.

    A session drops off at the step that it viewed last (ties: the greater index, then the greater
    id), when it completed neither that step nor the form. A step without a view counts nowhere.
    """
    viewed = ints(facts.steps, "viewed_at") != NEVER
    steps = take(facts.steps, viewed, ["edition", "step", "view_day", "completed_at", *_LAST_BY])
    place = lookup(ints(facts.sessions, "session"), ints(facts.steps, "session")[viewed])
    completed = steps["completed_at"] != NEVER
    left = ~completed & (ints(facts.sessions, "completed_at")[place] == NEVER)
    dropoffs = np.zeros(len(place), np.int64)
    last = _last_viewed(steps, place, size(facts.sessions))
    dropoffs[_greater_ids(facts.steps["step_id"][viewed], place, last)] = 1
    return total(
        "step",
        part(
            steps,
            day="view_day",
            form=ints(facts.sessions, "form")[place],
            views=1,
            completions=completed.astype(np.int64),
            dropoffs=dropoffs * left,
        ),
    )


def _last_viewed(steps: dict[str, Column], session: Column, sessions: int) -> Column:
    """The rows of the steps that are their session's last: rivals are struck off, key by key."""
    rows = np.arange(len(session))
    for name in _LAST_BY:
        column = steps[name][rows]
        greatest = np.full(sessions, np.iinfo(np.int64).min)
        np.maximum.at(greatest, session[rows], column)
        rows = rows[column == greatest[session[rows]]]
    return rows


def _greater_ids(ids: pd.Series, session: Column, rows: Column) -> Column:
    """Of the rows that share a session those with the greater id, by its text."""
    rivals = pd.DataFrame({"row": rows, "session": session[rows]})
    tied = rivals.duplicated("session", keep=False)
    if not tied.any():
        return rows
    few = rivals[tied].assign(id=ids.iloc[rivals.loc[tied, "row"]].to_numpy())
    chosen = few.sort_values(["session", "id"]).drop_duplicates("session", keep="last")
    return np.concatenate([rivals.loc[~tied, "row"].to_numpy(), chosen["row"].to_numpy()])

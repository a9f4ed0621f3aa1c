"""The quarters of an hour in which a form session had an event: enough to know its days in every time zone,
where a day begins at a quarter of an hour.

They are numbers since 1970, of seven digits in all years that an event may have. The first is that of the
session's first event; a text has the others, ascending, and is "" for most sessions.
"""

from typing import Final

import numpy as np
import pandas as pd

from jobs.arrays.group_keys import Column
from warehouse.domain.time import MICROS_PER_SECOND

QUARTER: Final = 15 * 60 * MICROS_PER_SECOND

LAST: Final = "SUBSTR(f.quarters, LENGTH(f.quarters) - 6)"
"""SQL: the text of the last quarter of a session `f` that has others than its first."""


def others(session: Column, at: Column, sessions: int) -> pd.Series:
    """The text of each session. `session`: the place of each event's session, in their order, and within each
    by instant (`at`); `sessions`: how many there are."""
    quarter = at // QUARTER
    is_new = np.zeros(len(at), dtype=bool)
    is_new[1:] = (session[1:] == session[:-1]) & (quarter[1:] != quarter[:-1])
    texts = np.full(sessions, "", dtype=object)
    places, firsts = np.unique(session[is_new], return_index=True)
    for place, numbers in zip(places, np.split(quarter[is_new], firsts[1:]), strict=False):
        texts[place] = " ".join(map(str, numbers.tolist()))
    return pd.Series(texts, dtype="str")


def merged(first_at: Column, rows: pd.DataFrame, partial: pd.DataFrame) -> pd.Series:
    """The text of each of some sessions, which has the events of a row and of the other in its place
    (first_at, quarters), with `first_at` of both."""
    firsts = rows["first_at"].to_numpy() // QUARTER, partial["first_at"].to_numpy() // QUARTER
    listed = rows["quarters"].to_numpy(object), partial["quarters"].to_numpy(object)
    texts = listed[0].copy()
    differ = (listed[0] != "") | (listed[1] != "") | (firsts[0] != firsts[1])
    for place in np.flatnonzero(differ).tolist():
        numbers = {int(number) for each in listed for number in each[place].split()}
        numbers |= {int(quarters[place]) for quarters in firsts}
        numbers.discard(int(first_at[place]) // QUARTER)
        texts[place] = " ".join(map(str, sorted(numbers)))
    return pd.Series(texts, index=rows.index, dtype="str")


def of_instants(instants: pd.DataFrame, groups: pd.Series) -> pd.Series:
    """The text of each of these groups, from its instants (group, at)."""
    rows = instants.sort_values(["group", "at"])
    place = pd.Index(groups).get_indexer(rows["group"])
    order = np.argsort(place, kind="stable")
    return others(place[order], rows["at"].to_numpy()[order], len(groups)).set_axis(groups.index)


def instants(rows: pd.DataFrame) -> dict[str, Column]:
    """edition, session, at; an instant for each quarter in which some sessions (edition, session, first_at,
    quarters) had an event."""
    names = ["edition", "session", "first_at"]
    edition, session, first_at = (rows[name].to_numpy(np.int64) for name in names)
    has_others = np.flatnonzero(rows["quarters"].to_numpy(object) != "")
    listed = [text.split() for text in rows["quarters"].iloc[has_others]]
    row = np.repeat(has_others, [len(numbers) for numbers in listed]).astype(np.int64)
    numbers = np.array([int(number) for numbers in listed for number in numbers], np.int64)
    return {
        "edition": np.concatenate([edition, edition[row]]),
        "session": np.concatenate([session, session[row]]),
        "at": np.concatenate([first_at, numbers * QUARTER]),
    }

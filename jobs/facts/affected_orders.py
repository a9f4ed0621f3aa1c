"""The keys of the orders whose credit a batch may move, and of the submissions that they may go to.

An order is credited to the first of its candidates (contract 3). Its credit can move only if that
submission changed, or if another submission that changed now ranks before it. The affected orders are
among these:

- orders that are credited to a changed submission;
- orders of the customer and of the visitor of a submission that is new to them, up to their next
  submission: later orders prefer that nearer one, or have another one for a better reason. For a person
  with many submissions, this is minutes instead of the whole window;
- orders that used a code newly issued to a changed submission, up to the next submission holding that code;
- such orders of its customer and its visitor in the whole window: to them the next one may be a stranger's.

The candidates of an order are found in the same way: the last submission of its customer and of its visitor,
and for each of its codes the last of them that was issued the code, and the last of anybody. Where a batch
takes a code away from a submission, or a submission away from a person, the last one before that is a
candidate, too.

The functions here only compute keys and spans of instants (microseconds); `gather.py` reads by them.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from jobs.arrays.columns import Columns
from jobs.arrays.group_keys import Column, distinct_rows, index_of, index_of_rows
from jobs.facts.changes import Versions
from warehouse.domain.time import NEVER


def key_columns(rows: Columns, *names: str) -> dict[str, Column]:
    """`edition` and these columns, as arrays."""
    return {name: np.asarray(rows[name]) for name in ("edition", *names)}


def changed_submissions(sessions: Versions, batch: Column) -> Versions:
    """The submissions among the sessions `batch`, and among those whose customer changed."""
    old, new = sessions.old, sessions.new
    index = index_of(new.index.to_numpy(), old.index.to_numpy())
    # A session without a new version has no event left: it is of the batch.
    kept = index >= 0
    moved = old["customer"].to_numpy()[kept] != new["customer"].to_numpy()[index[kept]]
    changed = sessions.of(np.concatenate([batch, old.index.to_numpy()[kept][moved]]))
    return Versions(*(rows[rows["submitted_at"] != NEVER] for rows in (changed.old, changed.new)))


def only_in(rows: pd.DataFrame, others: pd.DataFrame, *names: str) -> dict[str, Column]:
    """The values of submissions in these columns (none is 0) by the first rows, not by the others: edition,
    the columns, at (the instant of the submission); each once."""
    key = ("session", *names, "submitted_at")
    shown = [rows[name].to_numpy() != 0 for name in names]
    own = rows[np.logical_and.reduce([rows["submitted_at"].to_numpy() != NEVER, *shown])]
    index = index_of_rows(*([part[name].to_numpy() for name in key] for part in (others, own)))
    columns = key_columns(own[index < 0], *names, "submitted_at")
    columns["at"] = columns.pop("submitted_at")
    return distinct_rows(columns)


def spans_until_next(arrived: Mapping[str, Column], window: int) -> dict[str, Column]:
    """The span from each of these instants (see `only_in`) to the end of its window, or to the next of them
    with the same key: edition, the key, low, high. No two spans of a key overlap."""
    order = np.lexsort([arrived["at"], *(arrived[name] for name in arrived if name != "at")])
    key = {name: column[order] for name, column in arrived.items()}
    low = key.pop("at")
    high = low + window
    same = np.logical_and.reduce([column[1:] == column[:-1] for column in key.values()])
    high[:-1][same] = np.minimum(high[:-1], low[1:] - 1)[same]
    return {**key, "low": low, "high": high}


def until(used: Mapping[str, Column], gone: Mapping[str, Column], window: int) -> dict[str, Column]:
    """Up to which instant, and from the start of which window on, the last submission with a key is a
    candidate: edition, the key, low, at.

    `used`: edition, the key, at: that of the orders to credit. Where a submission loses the key (`gone`, see
    `only_in`), the last one before it is asked for.
    """
    before = {**gone, "at": gone["at"] - 1}
    instants = distinct_rows({name: np.concatenate([used[name], before[name]]) for name in before})
    return {**instants, "low": instants["at"] - window}

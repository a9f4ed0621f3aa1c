"""The keys of the orders whose credit a batch may move, and of the submissions that they may go to.

An order is credited to the first of its candidates (contract 3). Its credit can move only if that
submission changed, or if another submission that changed now ranks before it. The affected orders are
among these:

- orders that are credited to a changed submission;
- orders of a changed submission's customer and visitor in the window after it;
- orders of other buyers that used a code newly issued to a changed submission, up to the next
  submission holding that code: later orders prefer that nearer one. With a code that many share, this
  is minutes instead of the whole window.

The candidates of an order are found in the same way: the submissions of its customer and its visitor
in the window before it, and for each of its codes the last submission that was issued the code. Where
a batch takes a code away from a submission, the last one before that is a candidate, too.

The functions here only compute keys and spans of instants (microseconds); `gather.py` reads by them.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from jobs.arrays.columns import Columns
from jobs.arrays.group_keys import Column, distinct_rows, group_keys, index_of, index_of_rows
from jobs.facts.changes import Versions
from warehouse.domain.time import NEVER

_ISSUE = ("session", "code", "submitted_at")


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


def only_in(issues: pd.DataFrame, others: pd.DataFrame) -> dict[str, Column]:
    """The codes issued to submissions by the first rows and not by the others: edition, code, at (the
    instant of the submission); each once."""
    issued = issues[(issues["code"] != 0) & (issues["submitted_at"] != NEVER)]
    index = index_of_rows(
        *([rows[name].to_numpy() for name in _ISSUE] for rows in (others, issued))
    )
    rows = key_columns(issued[index < 0], "code", "submitted_at")
    return distinct_rows(
        {"edition": rows["edition"], "code": rows["code"], "at": rows["submitted_at"]}
    )


def spans_until_next(issues: Mapping[str, Column], window: int) -> dict[str, Column]:
    """The span from each of these issues (see `only_in`) to the end of its window, or to the next of
    them with the same code: edition, code, low, high. No two spans of a code overlap."""
    order = np.lexsort((issues["at"], issues["code"], issues["edition"]))
    edition, code, low = (issues[name][order] for name in ("edition", "code", "at"))
    high = low + window
    same = (edition[1:] == edition[:-1]) & (code[1:] == code[:-1])
    high[:-1][same] = np.minimum(high[:-1], low[1:] - 1)[same]
    return {"edition": edition, "code": code, "low": low, "high": high}


def spans_by_key(rows: Columns, name: str, low: Column, high: Column) -> dict[str, Column]:
    """For each value of a column that is not 0, the span of all its rows' spans: edition, the column,
    low, high."""
    present = np.asarray(rows[name]) != 0
    key = {name: column[present] for name, column in key_columns(rows, name).items()}
    groups = group_keys(*key.values()).dense()
    lows, highs = np.full(groups.size, NEVER), np.full(groups.size, -NEVER)
    np.minimum.at(lows, groups.keys, low[present])
    np.maximum.at(highs, groups.keys, high[present])
    any_row = groups.any_row()
    return {name: column[any_row] for name, column in key.items()} | {"low": lows, "high": highs}


def code_instants(codes: pd.DataFrame, issues: Versions) -> dict[str, Column]:
    """For which code, up to which instant, the last issue is a candidate: edition, code, at.

    `codes`: edition, code, created_at of the orders to credit. Where a batch takes an issue away, the
    last one before it is asked for.
    """
    used = key_columns(codes, "code") | {"at": codes["created_at"].to_numpy()}
    gone = only_in(issues.old, issues.new)
    before = gone | {"at": gone["at"] - 1}
    return distinct_rows({name: np.concatenate([used[name], before[name]]) for name in before})

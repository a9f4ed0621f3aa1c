"""Attribution (contract 3): the one submission that each order is credited to.

Five rules are tried; the first that finds a submission wins. A code of the order was issued to a
submission of the same customer, of the same visitor, or of anybody; then any submission of the same
customer, then of the same visitor. Each rule takes the latest submission at or before the order,
within the window, among those with equal keys: an as-of join.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pandas as pd

from jobs.arrays.group_keys import Column, group_keys, join, sorted_unique
from warehouse.domain.time import MICROS_PER_DAY
from warehouse.domain.vocabulary import BY_CODE, BY_CUSTOMER, BY_VISITOR, UNATTRIBUTED

# Columns of equal length. `row` is the index of the order or the submission that a row comes from.
_Rows: TypeAlias = Mapping[str, Column]

_RULES = (
    (BY_CODE, ("code", "customer")),
    (BY_CODE, ("code", "visitor")),
    (BY_CODE, ("code",)),
    (BY_CUSTOMER, ("customer",)),
    (BY_VISITOR, ("visitor",)),
)


@dataclass(frozen=True)
class Candidates:
    """Submissions that orders may be credited to.

    - `submissions`: edition, session, submitted_at, customer, visitor, form, utm (numbers) and the text
      form_session_id
    - `issued`: session, code; the codes that were issued to them
    """

    submissions: pd.DataFrame
    issued: pd.DataFrame


def credit(
    orders: pd.DataFrame, codes: pd.DataFrame, candidates: Candidates, window_days: int
) -> pd.DataFrame:
    """The credit of each order, in the order of the rows: type, session, form, utm (the effective one).

    `orders`: edition, order, created_at, customer, visitor, order_utm; `codes`: order, code.
    """
    submissions, issued = candidates.submissions, candidates.issued
    names = ("edition", "customer", "visitor")
    ours = _rows(orders, *names, at=orders["created_at"])
    theirs = _rows(submissions, *names, "form", at=submissions["submitted_at"])
    with_code = _joined(ours, orders["order"], codes["order"], codes["code"])
    issued_code = _joined(theirs, submissions["session"], issued["session"], issued["code"])
    texts = submissions["form_session_id"]
    # The index of each order's submission.
    credited = np.full(len(orders), -1)
    kind = np.full(len(orders), UNATTRIBUTED)
    for rule, keys in _RULES:
        left, right = (with_code, issued_code) if "code" in keys else (ours, theirs)
        open_orders = _filter(left, credited[left["row"]] < 0)
        order, submission = _latest(open_orders, right, keys, texts, window_days)
        credited[order], kind[order] = submission, rule

    def of_submission(name: str) -> Column:
        # Index -1 is the 0 appended to the end.
        return np.append(submissions[name].to_numpy(), 0)[credited]

    utm = of_submission("utm")
    return pd.DataFrame(
        {
            "type": kind,
            "session": of_submission("session"),
            "form": of_submission("form"),
            "utm": np.where(utm != 0, utm, orders["order_utm"].to_numpy()),
        },
        index=orders["order"].to_numpy(),
    )


def _rows(frame: pd.DataFrame, *names: str, at: pd.Series) -> _Rows:
    columns = {name: frame[name].to_numpy() for name in names}
    return columns | {"at": at.to_numpy(), "row": np.arange(len(frame))}


def _filter(rows: _Rows, mask: np.ndarray) -> _Rows:
    return {name: column[mask] for name, column in rows.items()}


def _joined(rows: _Rows, ids: pd.Series, others: pd.Series, codes: pd.Series) -> _Rows:
    """The rows once for each code of their id."""
    ours, theirs = join([ids.to_numpy()], [others.to_numpy()])
    return {**_filter(rows, ours), "code": codes.to_numpy()[theirs]}


def _latest(
    orders: _Rows, submissions: _Rows, names: Sequence[str], texts: pd.Series, window_days: int
) -> tuple[Column, Column]:
    """Each order that has a submission with equal keys, and the latest of these; by their `row`."""
    for name in names:
        orders = _filter(orders, orders[name] != 0)
        submissions = _filter(submissions, submissions[name] != 0)
    created_at, submitted_at = orders["at"], submissions["at"]
    if not len(created_at) or not len(submitted_at):
        return orders["row"][:0], submissions["row"][:0]
    keys = [np.concatenate([orders[name], submissions[name]]) for name in ("edition", *names)]
    ours, theirs = np.split(group_keys(*keys).dense().keys, [len(created_at)])
    # Key and rank of the instant as one integer that sorts like both. The last submission at or
    # before an order is the one before the position where the order would be inserted.
    instants = sorted_unique(submitted_at)
    ranks = len(instants) + 1
    sort_keys = theirs * ranks + np.searchsorted(instants, submitted_at)
    ranked = _ranked(submissions, sort_keys, texts)
    wanted = ours * ranks + np.searchsorted(instants, created_at, side="right") - 1
    before = np.searchsorted(sort_keys[ranked], wanted, side="right") - 1
    rows = ranked[before]
    hit = (before >= 0) & (theirs[rows] == ours)
    hit &= created_at - submitted_at[rows] <= window_days * MICROS_PER_DAY
    return _one_per_order(orders["row"][hit], _filter(submissions, rows[hit]), texts)


def _ranked(submissions: _Rows, sort_keys: Column, texts: pd.Series) -> Column:
    """Row indexes by sort key; those with one sort key by form_session_id, then form."""
    order = np.argsort(sort_keys)
    same = sort_keys[order][1:] == sort_keys[order][:-1]
    if not same.any():
        return order
    # Texts are compared only where the sort key does not decide.
    tied = np.zeros(len(sort_keys), dtype=bool)
    tied[order[1:][same]] = tied[order[:-1][same]] = True
    rank = np.zeros(len(sort_keys))
    rank[tied] = _text_ranks(submissions["row"][tied], texts)
    return np.lexsort((submissions["form"], rank, sort_keys))


def _one_per_order(orders: Column, submissions: _Rows, texts: pd.Series) -> tuple[Column, Column]:
    """The latest submission per order: an order with several codes can match several."""
    rows = submissions["row"]
    if len(sorted_unique(orders)) < len(orders):
        ranks = _text_ranks(rows, texts)
        by = np.lexsort((submissions["form"], ranks, submissions["at"], orders))
        last = by[np.diff(orders[by], append=-1) != 0]
        orders, rows = orders[last], rows[last]
    return orders, rows


def _text_ranks(rows: Column, texts: pd.Series) -> Column:
    return texts.iloc[rows].rank(method="dense").to_numpy()

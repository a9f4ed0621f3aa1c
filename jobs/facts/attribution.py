"""Attribution (contract 3): the one submission that each order is credited to.

An order's candidates are looked for in five ways, the first that finds one wins: a code that it used
was issued to a submission of the same customer, of the same visitor, of anybody; then the same
customer, then the same visitor. Each way is the latest submission at or before the order, within the
window, among those with equal keys: an as-of join.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pandas as pd

from jobs.codes import Column, ascending, code, matches
from warehouse.days import MICROS_PER_DAY
from warehouse.vocabulary import BY_CODE, BY_CUSTOMER, BY_VISITOR, UNATTRIBUTED

# Columns of equal length, `row` among them: where in the orders, or the submissions, a row comes from.
_Rows: TypeAlias = Mapping[str, Column]

_WAYS = (
    (BY_CODE, ("code", "customer")),
    (BY_CODE, ("code", "visitor")),
    (BY_CODE, ("code",)),
    (BY_CUSTOMER, ("customer",)),
    (BY_VISITOR, ("visitor",)),
)


@dataclass(frozen=True)
class Candidates:
    """`submissions`: edition, session, submitted_at, customer, visitor, form, utm and the text
    form_session_id; `issued`: session, code."""

    submissions: pd.DataFrame
    issued: pd.DataFrame


def credit(
    orders: pd.DataFrame, codes: pd.DataFrame, candidates: Candidates, window_days: int
) -> pd.DataFrame:
    """The credit of each order: type, session, form, utm (the effective one), by order.

    `orders`: edition, order, created_at, customer, visitor, own_utm; `codes`: order, code.
    """
    submissions, issued = candidates.submissions, candidates.issued
    names = ("edition", "customer", "visitor")
    ours = _rows(orders, *names, at=orders["created_at"])
    theirs = _rows(submissions, *names, "form", at=submissions["submitted_at"])
    with_code = _joined(ours, orders["order"], codes["order"], codes["code"])
    issued_code = _joined(theirs, submissions["session"], issued["session"], issued["code"])
    texts = submissions["form_session_id"]
    # The place of each order's submission.
    found = np.full(len(orders), -1)
    kind = np.full(len(orders), UNATTRIBUTED)
    for way, keys in _WAYS:
        left, right = (with_code, issued_code) if "code" in keys else (ours, theirs)
        due = _where(left, found[left["row"]] < 0)
        order, submission = _latest(due, right, keys, texts, window_days)
        found[order], kind[order] = submission, way

    def taken(name: str) -> Column:
        # Place -1 is the 0 behind the last one.
        return np.append(submissions[name].to_numpy(), 0)[found]

    utm = taken("utm")
    return pd.DataFrame(
        {
            "type": kind,
            "session": taken("session"),
            "form": taken("form"),
            "utm": np.where(utm != 0, utm, orders["own_utm"].to_numpy()),
        },
        index=orders["order"].to_numpy(),
    )


def _rows(frame: pd.DataFrame, *names: str, at: pd.Series) -> _Rows:
    columns = {name: frame[name].to_numpy() for name in names}
    return columns | {"at": at.to_numpy(), "row": np.arange(len(frame))}


def _where(rows: _Rows, chosen: np.ndarray) -> _Rows:
    return {name: column[chosen] for name, column in rows.items()}


def _joined(rows: _Rows, ids: pd.Series, others: pd.Series, codes: pd.Series) -> _Rows:
    """The rows once for each code of their id."""
    ours, theirs = matches([ids.to_numpy()], [others.to_numpy()])
    return {**_where(rows, ours), "code": codes.to_numpy()[theirs]}


def _latest(
    orders: _Rows, submissions: _Rows, names: Sequence[str], texts: pd.Series, window_days: int
) -> tuple[Column, Column]:
    """Each order that has a submission with equal keys, and the latest of these; by their `row`."""
    for name in names:
        orders = _where(orders, orders[name] != 0)
        submissions = _where(submissions, submissions[name] != 0)
    created_at, submitted_at = orders["at"], submissions["at"]
    if not len(created_at) or not len(submitted_at):
        return orders["row"][:0], submissions["row"][:0]
    keys = [np.concatenate([orders[name], submissions[name]]) for name in ("edition", *names)]
    ours, theirs = np.split(code(*keys).dense().codes, [len(created_at)])
    # Key and instant as one integer that sorts like both: the instant by its rank, so that the
    # last submission at or before an order is the one before the order's place among them.
    instants = ascending(submitted_at)
    room = len(instants) + 1
    places = theirs * room + np.searchsorted(instants, submitted_at)
    ranked = _ranked(submissions, places, texts)
    wanted = ours * room + np.searchsorted(instants, created_at, side="right") - 1
    before = np.searchsorted(places[ranked], wanted, side="right") - 1
    rows = ranked[before]
    hit = (before >= 0) & (theirs[rows] == ours)
    hit &= created_at - submitted_at[rows] <= window_days * MICROS_PER_DAY
    return _one_each(orders["row"][hit], _where(submissions, rows[hit]), texts)


def _ranked(submissions: _Rows, places: Column, texts: pd.Series) -> Column:
    """Row numbers by place; at one place by form_session_id, then form."""
    order = np.argsort(places)
    same = places[order][1:] == places[order][:-1]
    if not same.any():
        return order
    # Texts are compared only where the place does not decide.
    tied = np.zeros(len(places), dtype=bool)
    tied[order[1:][same]] = tied[order[:-1][same]] = True
    rank = np.zeros(len(places))
    rank[tied] = _text_ranks(submissions["row"][tied], texts)
    return np.lexsort((submissions["form"], rank, places))


def _one_each(orders: Column, submissions: _Rows, texts: pd.Series) -> tuple[Column, Column]:
    """One submission per order: an order with several codes can match several; the latest again."""
    found = submissions["row"]
    if len(ascending(orders)) < len(orders):
        ranks = _text_ranks(found, texts)
        by = np.lexsort((submissions["form"], ranks, submissions["at"], orders))
        last = by[np.diff(orders[by], append=-1) != 0]
        orders, found = orders[last], found[last]
    return orders, found


def _text_ranks(rows: Column, texts: pd.Series) -> Column:
    return texts.iloc[rows].rank(method="dense").to_numpy()

"""Attribution (contract 3): the one submission that each order is credited to.

An order's candidates are looked for in five ways, the first that finds one wins: a code that it used
was issued to a submission of the same customer, of the same visitor, of anybody; then the same
customer, then the same visitor. Each way is the latest submission at or before the order, within the
window, among those with equal keys: an as-of join.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from jobs.codes import code
from jobs.facts.frames import by_id
from warehouse.days import MICROS_PER_DAY
from warehouse.vocabulary import BY_CODE, BY_CUSTOMER, BY_VISITOR, UNATTRIBUTED

_NONE = np.empty(0, dtype=np.int64)

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
    keys = orders[["edition", "order", "created_at", "customer", "visitor"]].reset_index(drop=True)
    with_codes = keys.merge(codes[["order", "code"]], on="order")
    issued = candidates.submissions.merge(candidates.issued[["session", "code"]], on="session")
    found: list[pd.DataFrame] = []
    credited: np.ndarray = np.empty(0, dtype=np.int64)
    for kind, names in _WAYS:
        left, right = (with_codes, issued) if "code" in names else (keys, candidates.submissions)
        match = _latest(left[~left["order"].isin(credited)], right, list(names), window_days)
        found.append(match.assign(type=kind))
        credited = np.concatenate([credited, match["order"].to_numpy()])
    hits = by_id(pd.concat(found, ignore_index=True), "order")
    places = hits.index.get_indexer(orders["order"])
    hit = places >= 0

    def taken(name: str, default: int) -> np.ndarray:
        values = hits[name].to_numpy().astype(np.int64)
        return np.where(hit, values[places], default) if len(values) else np.full(len(hit), default)

    utm = taken("utm", 0)
    return pd.DataFrame(
        {
            "type": taken("type", UNATTRIBUTED),
            "session": taken("session", 0),
            "form": taken("form", 0),
            "utm": np.where(utm != 0, utm, orders["own_utm"].to_numpy()),
        },
        index=orders["order"].to_numpy(),
    )


def _latest(
    orders: pd.DataFrame, submissions: pd.DataFrame, names: list[str], window_days: int
) -> pd.DataFrame:
    """Per order the latest submission with equal keys: order, session, form, utm."""
    for name in names:
        orders = orders[orders[name] != 0]
        submissions = submissions[submissions[name] != 0]
    if orders.empty or submissions.empty:
        return pd.DataFrame(dict.fromkeys(("order", "session", "form", "utm"), _NONE))
    keys = [
        np.concatenate([orders[name].to_numpy(), submissions[name].to_numpy()])
        for name in ("edition", *names)
    ]
    ours, theirs = np.split(code(*keys).dense().codes, [len(orders)])
    created_at, submitted_at = (
        orders["created_at"].to_numpy(),
        submissions["submitted_at"].to_numpy(),
    )
    # Key and instant as one integer that sorts like both: the instant by its rank, so that the
    # last submission at or before an order is the one before the order's place among them.
    instants = np.unique(submitted_at)
    room = len(instants) + 1
    places = theirs * room + np.searchsorted(instants, submitted_at)
    ranked = _ranked(submissions, places)
    wanted = ours * room + np.searchsorted(instants, created_at, side="right") - 1
    before = np.searchsorted(places[ranked], wanted, side="right") - 1
    rows = ranked[before]
    hit = (before >= 0) & (theirs[rows] == ours)
    hit &= created_at - submitted_at[rows] <= window_days * MICROS_PER_DAY
    matches = submissions.iloc[rows[hit]].assign(order=orders["order"].to_numpy()[hit])
    return _one_each(matches)[["order", "session", "form", "utm"]]


def _ranked(submissions: pd.DataFrame, places: np.ndarray) -> np.ndarray:
    """Row numbers by place; at one place by form_session_id, then form."""
    order = np.argsort(places)
    same = places[order][1:] == places[order][:-1]
    if not same.any():
        return order
    # Texts are compared only where the place does not decide.
    tied = np.zeros(len(places), dtype=bool)
    tied[order[1:][same]] = tied[order[:-1][same]] = True
    rank = np.zeros(len(places))
    rank[tied] = submissions["form_session_id"][tied].rank(method="dense").to_numpy()
    return np.lexsort((submissions["form"].to_numpy(), rank, places))


def _one_each(matches: pd.DataFrame) -> pd.DataFrame:
    """One submission per order: an order with several codes can match several; the latest again."""
    several = matches.duplicated("order", keep=False)
    if not several.any():
        return matches
    key = ["order", "submitted_at", "form_session_id", "form"]
    chosen = matches[several].sort_values(key).drop_duplicates("order", keep="last")
    return pd.concat([matches[~several], chosen], ignore_index=True)

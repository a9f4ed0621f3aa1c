"""Attribution (contract 3): the one submission that each order is credited to.

An order's candidates are looked for in five ways, the first that finds one wins: a code that it used
was issued to a submission of the same customer, of the same visitor, of anybody; then the same
customer, then the same visitor. Each way is the latest submission at or before the order, within the
window, among those with equal keys: an as-of join.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from jobs.facts.frames import by_id
from warehouse.days import MICROS_PER_DAY
from warehouse.vocabulary import BY_CODE, BY_CUSTOMER, BY_VISITOR, UNATTRIBUTED

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
    key = ["edition", *names]
    empty = pd.DataFrame({name: [] for name in ("order", "session", "form", "utm")}, dtype="int64")
    for name in names:
        orders = orders[orders[name] != 0]
        submissions = submissions[submissions[name] != 0]
    if orders.empty or submissions.empty:
        return empty
    columns = [*key, "submitted_at", "form_session_id", "session", "form", "utm"]
    right = _last_of_ties(submissions[columns], [*key, "submitted_at"])
    left = orders[[*key, "order", "created_at"]].drop_duplicates()
    joined = pd.merge_asof(
        left.sort_values("created_at"),
        right.sort_values("submitted_at").assign(found=True),
        left_on="created_at",
        right_on="submitted_at",
        by=key,
        tolerance=window_days * MICROS_PER_DAY,
    )
    # merge_asof turns numbers beside a missing match into floats, so only what places the match is
    # read from it, and the ids are looked up again.
    hit = joined[joined["found"].notna()]
    instants = hit["submitted_at"].astype("int64")
    match = (
        hit[[*key, "order"]].assign(submitted_at=instants).merge(right, on=[*key, "submitted_at"])
    )
    # An order with several codes can match several submissions: the latest again.
    last = match[match["submitted_at"] == match.groupby("order")["submitted_at"].transform("max")]
    return _last_of_ties(last, ["order"])[["order", "session", "form", "utm"]]


def _last_of_ties(rows: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    """One row per key: the greater form_session_id, then the greater form."""
    tied = rows.duplicated(key, keep=False)
    if not tied.any():
        return rows
    chosen = (
        rows[tied].sort_values([*key, "form_session_id", "form"]).drop_duplicates(key, keep="last")
    )
    return pd.concat([rows[~tied], chosen], ignore_index=True)

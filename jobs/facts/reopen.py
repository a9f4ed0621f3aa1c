"""What a change re-opens: the orders whose credit may move, and the submissions they may go to.

A changed submission re-opens the orders of its codes, its customer and its visitor, as they were and
as they are, within the window after it. Every order in the working set is credited anew; to do that
again where nothing has changed gives the same credit.
"""

import numpy as np
import pandas as pd

from jobs.facts import store
from jobs.facts.attribution import Candidates, credit
from jobs.facts.sessions import Children
from jobs.facts.working import Working
from warehouse import tables
from warehouse.days import MICROS_PER_DAY, NEVER

_CANDIDATE = [
    "edition",
    "session",
    "submitted_at",
    "customer",
    "visitor",
    "form",
    "utm",
    "form_session_id",
]


def credit_orders(
    work: Working,
    children: Children,
    placed: pd.Index,
    placed_codes: pd.DataFrame,
    folded: np.ndarray,
    window_days: int,
) -> None:
    """Credit every order that the batch re-opens, and bring its old and new session up to date."""
    _reopen(work, children, folded, window_days * MICROS_PER_DAY)
    if work.new_orders.empty and work.old_orders.empty:
        return
    kept = work.new_orders.index.difference(placed)
    codes = store.load(
        work.bulk, tables.fact_order_code, work.new_orders.loc[kept, ["edition", "order"]]
    )
    codes = pd.concat([codes[placed_codes.columns], placed_codes], ignore_index=True)
    codes = codes[codes["order"].isin(work.new_orders.index)]
    candidates = _candidates(work, children, codes, folded, window_days * MICROS_PER_DAY)
    orders = work.new_orders.reset_index(drop=True)
    credits = credit(orders, codes, candidates, window_days)
    for name in credits.columns:
        work.new_orders[name] = credits[name].to_numpy()
    _move_outcomes(work)


def _reopen(work: Working, children: Children, folded: np.ndarray, window: int) -> None:
    """Load the orders that changed submissions might win or lose."""
    both = work.old_sessions.index.intersection(work.new_sessions.index)
    moved = both[
        (
            work.old_sessions.loc[both, "customer"] != work.new_sessions.loc[both, "customer"]
        ).to_numpy()
    ]
    ids = pd.Index(folded).union(moved)
    versions = pd.concat(
        [
            frame.loc[frame.index.intersection(ids)].reset_index(drop=True)
            for frame in (work.old_sessions, work.new_sessions)
        ],
        ignore_index=True,
    )
    versions = versions[versions["submitted_at"] != NEVER]
    for name in ("customer", "visitor"):
        work.load_orders(_spans(versions[versions[name] != 0], name, window), _WITHIN)
    others = versions.loc[~versions["session"].isin(folded), ["edition", "session"]]
    issues = pd.concat(
        [
            children.old_issues,
            children.new_issues,
            store.load(work.bulk, tables.fact_issue, others.drop_duplicates()),
        ],
        ignore_index=True,
    )
    issued = issues[issues["code"] != 0][["session", "code"]].drop_duplicates()
    spans = _spans(versions.merge(issued, on="session"), "code", window)
    used = store.load(work.bulk, tables.fact_order_code, spans[["edition", "code"]])
    keys = used[["edition", "order", "code"]].merge(spans, on=["edition", "code"])
    work.load_orders(keys.drop(columns="code"), _WITHIN)


_WITHIN = 'f.created_at BETWEEN k."low" AND k."high"'


def _spans(versions: pd.DataFrame, name: str, window: int) -> pd.DataFrame:
    """Per key the time in which orders can be credited to one of these submissions."""
    grouped = versions.groupby(["edition", name])["submitted_at"]
    spans = grouped.agg(["min", "max"]).reset_index()
    return spans.assign(low=spans["min"], high=spans["max"] + window)[
        ["edition", name, "low", "high"]
    ]


def _candidates(
    work: Working, children: Children, codes: pd.DataFrame, folded: np.ndarray, window: int
) -> Candidates:
    """All submissions that one of the orders in the working set could be credited to."""
    orders = work.new_orders.reset_index(drop=True)
    found = [_now(work)]
    here = work.new_sessions.index

    def bring(keys: pd.DataFrame) -> None:
        rows = store.load(
            work.bulk,
            tables.fact_form_session,
            keys,
            'f.submitted_at BETWEEN k."low" AND k."high"',
            _CANDIDATE,
        )
        found.append(rows[~rows["session"].isin(here)])

    def spans(rows: pd.DataFrame, name: str) -> pd.DataFrame:
        grouped = rows.groupby(["edition", name])["created_at"].agg(["min", "max"]).reset_index()
        return grouped.assign(low=grouped["min"] - window, high=grouped["max"])[
            ["edition", name, "low", "high"]
        ]

    for name in ("customer", "visitor"):
        bring(spans(orders[orders[name] != 0], name))
    by_code = spans(codes.merge(orders[["order", "created_at"]], on="order"), "code")
    stored = store.load(work.bulk, tables.fact_issue, by_code[["edition", "code"]])
    stored = stored[~stored["session"].isin(folded)]
    by_session = stored.merge(by_code, on=["edition", "code"]).groupby(["edition", "session"])
    bring(by_session.agg({"low": "min", "high": "max"}).reset_index())
    issued = pd.concat(
        [stored[["session", "code"]], children.new_issues[["session", "code"]]], ignore_index=True
    )
    return Candidates(
        submissions=pd.concat(found, ignore_index=True).drop_duplicates("session"),
        issued=issued[issued["code"] != 0].drop_duplicates(),
    )


def _now(work: Working) -> pd.DataFrame:
    sessions = work.new_sessions[_CANDIDATE].reset_index(drop=True)
    return sessions[sessions["submitted_at"] != NEVER]


def _move_outcomes(work: Working) -> None:
    """Take each order's figures from the session it was credited to, and give them to the new one."""
    measures = ["orders", "gross", "refunded"]

    def credited(orders: pd.DataFrame) -> pd.DataFrame:
        rows = orders[orders["session"] != 0].reset_index(drop=True).assign(orders=1)
        return rows.groupby(["edition", "session"])[measures].sum()

    moves = credited(work.new_orders).sub(credited(work.old_orders), fill_value=0)
    moves = moves[(moves != 0).any(axis=1)].astype("int64").reset_index()
    work.load_sessions(moves[["edition", "session"]])
    places = work.new_sessions.index.get_indexer(moves["session"])
    for name in measures:
        column = work.new_sessions[name].to_numpy().copy()
        column[places] += moves[name].to_numpy()
        work.new_sessions[name] = column

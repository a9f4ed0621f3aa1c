"""What a change re-opens: the orders whose credit may move, and the submissions they may go to.

An order goes to the first of its candidates (contract 3), so it moves only where that one has changed,
or where another that has changed now goes before it. The orders that changed submissions move are thus
among

- those that are credited to one of them;
- those of their customers and visitors, as these are now, in the window after them;
- of everybody's, those that used a code which one of them has come to be issued, from its instant until
  the next submission that had been issued this code. To all later ones that one was nearer, so what
  they are credited to goes before any stranger's up to there, or has changed itself. With a code that
  many share, this is minutes in the place of the window.

In the same way an order's candidates are the submissions of its customer and of its visitor in the
window before it, and of everybody's only the last to be issued each of its codes. Where the change takes
away what is stored as the last one, the one behind it is looked up, too.
"""

from typing import Final

import numpy as np
import pandas as pd

from jobs.codes import Column, code, distinct, find, lookup
from jobs.columns import Source
from jobs.facts import store
from jobs.facts.attribution import Candidates, credit
from jobs.facts.outcomes import move_outcomes
from jobs.facts.sessions import Children
from jobs.facts.working import Working, those
from warehouse import tables
from warehouse.days import MICROS_PER_DAY, NEVER

_CANDIDATE: Final = [
    "edition",
    "session",
    "submitted_at",
    "customer",
    "visitor",
    "form",
    "utm",
    "form_session_id",
]
_ISSUED: Final = ["edition", "session", "code"]
_USED: Final = ["edition", "order", "code", "created_at"]
_WITHIN: Final = 'BETWEEN k."low" AND k."high"'
_SAME_CODE: Final = "fact_issue n WHERE n.edition = k.edition AND n.code = k.code"
# Of the submissions that were issued a code by an instant, the last one, and all that tie with it.
_LAST: Final = (
    f'f.submitted_at = (SELECT MAX(n.submitted_at) FROM {_SAME_CODE} AND n.submitted_at <= k."at")'
)
# From one submission that was issued a code until the next.
_UNTIL_NEXT: Final = (
    'f.created_at BETWEEN k."low" AND COALESCE((SELECT MIN(n.submitted_at) - 1 '
    f'FROM {_SAME_CODE} AND n.submitted_at > k."low" AND n.submitted_at <= k."high"), k."high")'
)


def credit_orders(
    work: Working,
    children: Children,
    placed: pd.Index,
    placed_codes: pd.DataFrame,
    folded: np.ndarray,
    window_days: int,
) -> None:
    """Credit every order that the batch re-opens, and bring its old and new session up to date."""
    window = window_days * MICROS_PER_DAY
    _reopen(work, children, folded, window)
    if work.new_orders.empty and work.old_orders.empty:
        return
    kept = work.new_orders[~work.new_orders.index.isin(placed)]
    codes = store.load(work.bulk, tables.fact_order_code, _key(kept, "order"), columns=_USED)
    codes = pd.concat([codes, placed_codes[_USED]], ignore_index=True)
    candidates = _candidates(work, children, codes, folded, window)
    orders = work.new_orders.reset_index(drop=True)
    credits = credit(orders, codes, candidates, window_days)
    for name in credits.columns:
        work.new_orders[name] = credits[name].to_numpy()
    move_outcomes(work)


def _key(rows: Source, *names: str) -> dict[str, Column]:
    return {name: np.asarray(rows[name]) for name in ("edition", *names)}


def _only(issues: pd.DataFrame, others: pd.DataFrame) -> dict[str, Column]:
    """Where submissions were issued a code in the first rows and not in the others: edition, code,
    at; each once."""
    named = issues[(issues["code"] != 0) & (issues["submitted_at"] != NEVER)]
    places = find(*(_issue(rows) for rows in (others, named)))
    rows = _key(named[places < 0], "code", "submitted_at")
    return distinct({"edition": rows["edition"], "code": rows["code"], "at": rows["submitted_at"]})


def _issue(rows: pd.DataFrame) -> list[Column]:
    return [rows[name].to_numpy() for name in ("session", "code", "submitted_at")]


def _reopen(work: Working, children: Children, folded: np.ndarray, window: int) -> None:
    """Load the orders that changed submissions might win or lose."""
    old, new = _changed_submissions(work, folded)
    work.load_orders(_key(old, "session"))
    first = new["submitted_at"].to_numpy()
    for name in ("customer", "visitor"):
        # The sign keeps SQLite from looking orders up by their instants, which are all in the window.
        spans = _spans(_key(new, name), first, first + window)
        work.load_orders(spans, f"+f.created_at {_WITHIN}")
    spans = _until_next(_only(children.new_issues, children.old_issues), window)
    used = store.load(work.bulk, tables.fact_order_code, spans, _UNTIL_NEXT, _USED)
    work.load_orders(distinct(_key(used, "order")))


def _changed_submissions(work: Working, folded: np.ndarray) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Old and new version of every submission with new events or another customer."""
    old, new = work.old_sessions, work.new_sessions
    places = lookup(new.index.to_numpy(), old.index.to_numpy())
    # No session of the working set goes: every old version has a new one.
    moved = old["customer"].to_numpy() != new["customer"].to_numpy()[places]
    ids = np.concatenate([folded, old.index.to_numpy()[moved]])
    before, after = (
        rows[rows["submitted_at"] != NEVER] for rows in (those(old, ids), those(new, ids))
    )
    return before, after


def _until_next(issues: dict[str, Column], window: int) -> dict[str, Column]:
    """The span that each of these issues begins: edition, code, low, high. It ends before the next of
    them, so that no two spans overlap, or with the window."""
    order = np.lexsort((issues["at"], issues["code"], issues["edition"]))
    edition, codes, low = (issues[name][order] for name in ("edition", "code", "at"))
    high = low + window
    same = (edition[1:] == edition[:-1]) & (codes[1:] == codes[:-1])
    high[:-1][same] = np.minimum(high[:-1], low[1:] - 1)[same]
    return {"edition": edition, "code": codes, "low": low, "high": high}


def _spans(key: dict[str, Column], low: Column, high: Column) -> dict[str, Column]:
    """Each key (its last column not 0) once, with the least `low` and the greatest `high` of it."""
    known = [*key.values()][-1] != 0
    key, low, high = {name: key[name][known] for name in key}, low[known], high[known]
    codes = code(*key.values()).dense()
    lows, highs = np.full(codes.size, NEVER), np.full(codes.size, -NEVER)
    np.minimum.at(lows, codes.codes, low)
    np.maximum.at(highs, codes.codes, high)
    places = codes.places()
    return {name: column[places] for name, column in key.items()} | {"low": lows, "high": highs}


def _candidates(
    work: Working, children: Children, codes: pd.DataFrame, folded: np.ndarray, window: int
) -> Candidates:
    """Every submission that one of the orders in the working set could go to, with all its codes."""
    orders, here = work.new_orders, work.new_sessions
    created_at = orders["created_at"].to_numpy()
    found = [here.loc[here["submitted_at"] != NEVER, _CANDIDATE]]

    def bring(keys: dict[str, Column], condition: str = "true") -> None:
        rows = store.load(work.bulk, tables.fact_form_session, keys, condition, _CANDIDATE)
        found.append(rows[~rows["session"].isin(here.index)])

    for name in ("customer", "visitor"):
        spans = _spans(_key(orders, name), created_at - window, created_at)
        bring(spans, f"f.submitted_at {_WITHIN}")
    asked = _key(codes, "code") | {"at": codes["created_at"].to_numpy()}
    gone = _only(children.old_issues, children.new_issues)
    behind = gone | {"at": gone["at"] - 1}
    asked = distinct({name: np.concatenate([asked[name], behind[name]]) for name in behind})
    last = store.load(work.bulk, tables.fact_issue, asked, _LAST, _ISSUED)
    bring(distinct(_key(last, "session")))
    submissions = pd.concat(found, ignore_index=True).drop_duplicates("session")
    others = submissions[~submissions["session"].isin(folded)]
    issues = store.load(work.bulk, tables.fact_issue, _key(others, "session"), columns=_ISSUED)
    return Candidates(submissions=submissions, issued=_issued(issues, children.new_issues))


def _issued(*issues: pd.DataFrame) -> pd.DataFrame:
    """Which codes were issued to which sessions, each pair once: session, code."""
    rows = {name: np.concatenate([one[name] for one in issues]) for name in ("session", "code")}
    known = rows["code"] != 0
    return pd.DataFrame(distinct({name: column[known] for name, column in rows.items()}))

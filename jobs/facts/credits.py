"""Attribution (contract 3): the one submission that each order is credited to.

Five rules are tried; the first that finds a submission wins. A code of the order was issued to a
submission of the same customer, of the same visitor, or of anybody; then any submission of the same
customer, then of the same visitor. Each rule takes the latest submission at or before the order,
within the window, among those with equal keys: an as-of join.

An order is credited to the first of its candidates. Its credit can move only if that
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

The revenue of a session is that of the orders that are credited to it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import pandas as pd

from jobs.arrays.columns import Columns, int_column, take
from jobs.arrays.group_keys import (
    Column,
    distinct_rows,
    group_keys,
    index_of,
    index_of_rows,
    join,
    sorted_unique,
)
from jobs.facts import fact_table_io
from jobs.facts.changes import Changes, Versions, by_id
from jobs.facts.fact_table_io import key_columns, load_orders, load_sessions
from warehouse import tables
from warehouse.catalogue import REVENUE
from warehouse.connections.arrow import ArrowConnection
from warehouse.daily import group_sum
from warehouse.domain.time import MICROS_PER_DAY, NEVER
from warehouse.domain.vocabulary import BY_CODE, BY_CUSTOMER, BY_VISITOR, UNATTRIBUTED

# Columns of equal length. `row` is the index of the order or the submission that a row comes from.
_Rows: TypeAlias = Mapping[str, Column]

# The persons that a submission and an order can share.
_PERSON: Final = ("customer", "visitor")
# A person with more submissions in a window than this is looked up among those that hold a code, not the
# other way round.
_MANY: Final = 100
_SAME_CODE: Final = "fact_code_issued n WHERE n.edition = k.edition AND n.code = k.code"
# The last submission that was issued a code by an instant, and all that tie with it.
_LAST_ISSUED: Final = (
    f'f.submitted_at = (SELECT MAX(n.submitted_at) FROM {_SAME_CODE} AND n.submitted_at <= k."at")'
)
# Orders from one submission that was issued a code until the next.
_UNTIL_NEXT_ISSUED: Final = (
    'f.created_at BETWEEN k."low" AND COALESCE((SELECT MIN(n.submitted_at) - 1 '
    f'FROM {_SAME_CODE} AND n.submitted_at > k."low" AND n.submitted_at <= k."high"), k."high")'
)
_WITH_CODE: Final = (
    'f.created_at BETWEEN k."low" AND k."high" AND EXISTS (SELECT 1 FROM fact_order_code c '
    'WHERE c.edition = f.edition AND c."order" = f."order" AND c.code = k.code)'
)


def _same(name: str) -> str:
    """The submissions `n` of the same customer or visitor."""
    return (
        f"fact_form_session n WHERE n.edition = k.edition AND n.{name} = k.{name} "
        f"AND n.{name} <> 0 AND n.submitted_at <> {NEVER}"
    )


def _until_next(name: str) -> str:
    """The SQL condition of the orders from one submission of a person until the next."""
    return (
        f'f.created_at BETWEEN k."low" AND k."high" AND NOT EXISTS (SELECT 1 FROM {_same(name)} '
        'AND n.submitted_at > k."low" AND n.submitted_at <= f.created_at)'
    )


def _last(name: str) -> str:
    """The SQL condition of a person's last submission by an instant, and of all that tie with it."""
    return (
        f"f.submitted_at <> {NEVER} AND f.submitted_at = (SELECT n.submitted_at FROM {_same(name)} "
        'AND n.submitted_at <= k."at" ORDER BY n.submitted_at DESC LIMIT 1)'
    )


def _last_with_code(name: str) -> str:
    """The SQL condition of the last submission in the window that was issued a code, and of all of the person
    that tie with it."""
    window = 'n.submitted_at BETWEEN k."low" AND k."at"'
    own = f"{_same(name)} AND {window}"
    holders = f"{_SAME_CODE} AND {window}"
    same_session = "o.edition = n.edition AND o.session = n.session"
    last = "ORDER BY n.submitted_at DESC LIMIT 1"
    return (
        f"f.submitted_at <> {NEVER} AND f.submitted_at = "
        f"CASE WHEN (SELECT 1 FROM {own} LIMIT 1 OFFSET {_MANY}) IS NULL "
        f"THEN (SELECT n.submitted_at FROM {own} AND EXISTS (SELECT 1 FROM fact_code_issued o "
        f"WHERE {same_session} AND o.code = k.code) {last}) "
        f"ELSE (SELECT n.submitted_at FROM {holders} AND EXISTS (SELECT 1 FROM fact_form_session o "
        f"WHERE {same_session} AND o.{name} = k.{name}) {last}) END"
    )


def decide(
    connection: ArrowConnection, changes: Changes, window_days: int, *, recount: bool
) -> None:
    """Credit every order whose credit may move, and move its revenue. `recount`: the revenue of the touched
    sessions is counted from the stored orders first, in place of what is stored."""
    if not changes.are_first:
        _read_stored(connection, changes, window_days * MICROS_PER_DAY)
    orders, sessions = changes.orders, changes.sessions
    if recount:
        new = with_revenue_recounted(sessions.new, changes.touched, orders.old)
        sessions = Versions(sessions.old, new)
    changes.orders = Versions(
        orders.old, _credited(connection, changes, orders.new, sessions.new, window_days)
    )
    new = with_credited_revenue(sessions.new, changes.orders)
    changes.sessions = Versions(sessions.old, new)


def _read_stored(connection: ArrowConnection, changes: Changes, window: int) -> None:
    """Read the orders whose credit may move, and their candidates, with the codes of both."""
    touched, orders = changes.touched, changes.orders
    submissions = changed_submissions(changes.sessions, touched)
    moved = submissions.old[~submissions.old.index.isin(touched)]
    fact_table_io.read_issues(connection, changes, moved)
    # The codes that were issued to them.
    issues = tuple(
        _with_codes(own, rows, "session", ("submitted_at", *_PERSON))
        for own, rows in (
            (submissions.old, changes.issues.old),
            (submissions.new, changes.issues.new),
        )
    )
    orders = orders.plus(*_affected_orders(connection, submissions, issues, window))
    fact_table_io.read_order_codes(connection, changes, orders.old)
    codes = changes.order_codes
    sessions = changes.sessions.plus(
        *_candidates(connection, submissions, issues, orders, codes, window)
    )
    others = sessions.old[sessions.old["submitted_at"] != NEVER]
    is_read = others.index.isin(touched) | others.index.isin(moved.index)
    fact_table_io.read_issues(connection, changes, others[~is_read])
    changes.orders, changes.sessions = orders, sessions


def _credited(
    connection: ArrowConnection,
    changes: Changes,
    orders: pd.DataFrame,
    sessions: pd.DataFrame,
    window_days: int,
) -> pd.DataFrame:
    """The new version of orders, with their credit."""
    if orders.empty:
        return orders
    issues = changes.issues.new
    issues = issues[issues["code"] != 0]
    issued = distinct_rows({name: issues[name].to_numpy() for name in ("session", "code")})
    submissions = sessions[sessions["submitted_at"] != NEVER]
    keys = {"edition": submissions["edition"].to_numpy(), "id": submissions["form"].to_numpy()}
    stored = fact_table_io.load(connection, tables.dim_text, distinct_rows(keys))
    named = changes.partials.texts
    named = named[named["id"].isin(submissions["form"])]
    texts = pd.concat([named[["id", "text"]], stored[["id", "text"]]]).drop_duplicates("id")
    candidates = Candidates(submissions, pd.DataFrame(issued), by_id(texts, "id")["text"])
    credits = credit(
        orders.reset_index(drop=True), changes.order_codes.new, candidates, window_days
    )
    return orders.assign(**credits.set_axis(orders.index))


def _affected_orders(
    connection: ArrowConnection, submissions: Versions, issues: tuple[_Rows, ...], window: int
) -> list[pd.DataFrame]:
    """The orders that the changed submissions may win or lose."""
    issued, issued_now = issues
    stored = [load_orders(connection, key_columns(submissions.old, "session"))]
    for name in _PERSON:
        arrived = only_in(submissions.new, submissions.old, name)
        stored.append(load_orders(connection, spans_until_next(arrived, window), _until_next(name)))
        arrived = only_in(issued_now, issued, name, "code")
        stored.append(load_orders(connection, spans_until_next(arrived, window), _WITH_CODE))
    spans = spans_until_next(only_in(issued_now, issued, "code"), window)
    used = fact_table_io.load(
        connection, tables.fact_order_code, spans, _UNTIL_NEXT_ISSUED, ["edition", "order"]
    )
    stored.append(load_orders(connection, distinct_rows(key_columns(used, "order"))))
    return stored


def _candidates(
    connection: ArrowConnection,
    submissions: Versions,
    issues: tuple[_Rows, ...],
    orders: Versions,
    order_codes: Versions,
    window: int,
) -> list[pd.DataFrame]:
    """The sessions that one of the orders is or may be credited to."""
    issued, issued_now = issues
    stored = [
        load_sessions(
            connection,
            distinct_rows(key_columns(orders.old[orders.old["session"] != 0], "session")),
        )
    ]
    used = _with_codes(orders.new, order_codes.new, "order", ("created_at", *_PERSON))
    for name in _PERSON:
        gone = only_in(submissions.old, submissions.new, name)
        instants = until(_used(orders.new, name), gone, window)
        stored.append(load_sessions(connection, instants, _last(name)))
        gone = only_in(issued, issued_now, name, "code")
        instants = until(_used(used, name, "code"), gone, window)
        stored.append(load_sessions(connection, instants, _last_with_code(name)))
    last = fact_table_io.load(
        connection,
        tables.fact_code_issued,
        until(_used(used, "code"), only_in(issued, issued_now, "code"), window),
        _LAST_ISSUED,
        ["edition", "session"],
    )
    stored.append(load_sessions(connection, distinct_rows(key_columns(last, "session"))))
    return stored


def _with_codes(own: pd.DataFrame, rows: pd.DataFrame, id: str, names: Sequence[str]) -> _Rows:
    """The rows of codes of these sessions or orders (by `id`): the id, code, edition, and columns of its
    session or order."""
    index = index_of(own.index.to_numpy(), int_column(rows, id))
    is_own = index >= 0
    return take(rows, is_own, (id, "code")) | take(own, index[is_own], ("edition", *names))


def _used(orders: Columns, *names: str) -> dict[str, Column]:
    """The values of orders in these columns (none is 0), and when: edition, the columns, at."""
    shown = np.logical_and.reduce([int_column(orders, name) != 0 for name in names])
    columns = take(orders, shown, ("edition", *names, "created_at"))
    columns["at"] = columns.pop("created_at")
    return columns


def changed_submissions(sessions: Versions, batch: Column) -> Versions:
    """The submissions among the sessions `batch`, and among those whose customer changed."""
    old, new = sessions.old, sessions.new
    index = index_of(new.index.to_numpy(), old.index.to_numpy())
    # A session without a new version has no event left: it is of the batch.
    kept = index >= 0
    moved = old["customer"].to_numpy()[kept] != new["customer"].to_numpy()[index[kept]]
    changed = sessions.of(np.concatenate([batch, old.index.to_numpy()[kept][moved]]))
    return Versions(*(rows[rows["submitted_at"] != NEVER] for rows in (changed.old, changed.new)))


def only_in(rows: Columns, others: Columns, *names: str) -> dict[str, Column]:
    """The values of submissions in these columns (none is 0) by the first rows, not by the others: edition,
    the columns, at (the instant of the submission); each once."""
    key = ("session", *names, "submitted_at")
    shown = [int_column(rows, name) != 0 for name in names]
    is_own = np.logical_and.reduce([int_column(rows, "submitted_at") != NEVER, *shown])
    own = take(rows, is_own, ("edition", *key))
    theirs = [int_column(others, name) for name in key]
    index = index_of_rows(theirs, [own[name] for name in key])
    columns = take(own, index < 0, ("edition", *names, "submitted_at"))
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
    """Spans in which the last submission with a key is a candidate: edition, the key, `at` (the end) and
    `low` (the start of the window before it).

    `used`: edition, the key, and the instant `at` of the orders to credit. Where a submission loses the key
    (`gone`, see `only_in`), the last one before it is asked for.
    """
    before = {**gone, "at": gone["at"] - 1}
    instants = distinct_rows({name: np.concatenate([used[name], before[name]]) for name in before})
    return {**instants, "low": instants["at"] - window}


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
    - `form_ids`: the id of each of their forms, by its number
    """

    submissions: pd.DataFrame
    issued: pd.DataFrame
    form_ids: pd.Series


def credit(
    orders: pd.DataFrame, codes: pd.DataFrame, candidates: Candidates, window_days: int
) -> pd.DataFrame:
    """The credit of each order, in the order of the rows: type, session, form, utm (the effective one).

    `orders`: edition, order, created_at, customer, visitor, order_utm; `codes`: order, code.
    """
    submissions, issued = candidates.submissions, candidates.issued
    names = ("edition", "customer", "visitor")
    ours = _rows(orders, *names, at=orders["created_at"])
    # The form with the smallest id has the greatest rank.
    forms, form = np.unique(submissions["form"].to_numpy(), return_inverse=True)
    ranks = candidates.form_ids.reindex(forms).rank(method="dense", ascending=False).to_numpy()
    theirs = {**_rows(submissions, *names, at=submissions["submitted_at"]), "form": ranks[form]}
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
    order, latest = orders["row"][hit], _filter(submissions, rows[hit])
    found = latest["row"]
    # An order with several codes can match several submissions.
    if len(sorted_unique(order)) < len(order):
        by = np.lexsort((latest["form"], _text_ranks(found, texts), latest["at"], order))
        last = by[np.diff(order[by], append=-1) != 0]
        order, found = order[last], found[last]
    return order, found


def _ranked(submissions: _Rows, sort_keys: Column, texts: pd.Series) -> Column:
    """Row indexes by sort key; those with one sort key by form_session_id, then by the form's rank."""
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


def _text_ranks(rows: Column, texts: pd.Series) -> Column:
    return texts.iloc[rows].rank(method="dense").to_numpy()


_KEY: Final = ("edition", "session")


def with_credited_revenue(sessions: pd.DataFrame, orders: Versions) -> pd.DataFrame:
    """The sessions (by id), with the orders' figures taken from the session that they were credited to
    and added to the one that they are credited to now.

    `sessions` holds all of these sessions, but for those that have no event left. Money is in minor units.
    """
    old, new = (_figures(rows[rows["session"] != 0]) for rows in (orders.old, orders.new))
    rows = {name: np.concatenate([-old[name], new[name]]) for name in REVENUE}
    rows |= {name: np.concatenate([old[name], new[name]]) for name in _KEY}
    moves = group_sum.total(rows, _KEY)
    moved = np.logical_or.reduce([moves[name] != 0 for name in REVENUE])
    index = index_of(sessions.index.to_numpy(), moves["session"])
    moved &= index >= 0
    columns = {}
    for name in REVENUE:
        columns[name] = sessions[name].to_numpy().copy()
        columns[name][index[moved]] += moves[name][moved]
    return sessions.assign(**columns)


def with_revenue_recounted(
    sessions: pd.DataFrame, ids: Column, orders: pd.DataFrame
) -> pd.DataFrame:
    """The sessions (by id), those with these ids with the figures of the stored orders that are credited to
    them in place of those stored. `orders` holds all of these orders."""
    is_recounted = sessions.index.isin(ids)
    nothing = {name: sessions[name].mask(is_recounted, 0) for name in REVENUE}
    own = orders[orders["session"].isin(ids)]
    return with_credited_revenue(sessions.assign(**nothing), Versions(own.iloc[:0], own))


def _figures(orders: pd.DataFrame) -> dict[str, Column]:
    figures = {name: orders[name].to_numpy() for name in (*_KEY, *REVENUE) if name != "orders"}
    return figures | {"orders": np.ones(len(orders), np.int64)}

"""Gather: every stored row that a group of import batches may change or depends on, read in rounds.

    1  the sessions and orders that the batches name, with their children
    2  their people: orders and sessions that share an e-mail, the first session of each visitor
    3  the orders whose credit may move
    4  what these orders may be credited to: submissions, and the codes issued to them
    5  the codes that the batches name, and the facts that name a code whose discount moves

Each round decides its keys by pure functions, then reads. A value derived to decide a key is
handed on in `Gathered`, so that it is derived once. A last reading (`neighbours.py`) follows the
derivation.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from jobs.arrays.columns import row_count
from jobs.arrays.group_keys import Column, distinct_rows
from jobs.facts import discounts, fact_table_io
from jobs.facts.affected_orders import (
    changed_submissions,
    key_columns,
    only_in,
    spans_until_next,
    until,
)
from jobs.facts.changes import CodeUsage, Versions, stack, unique_ids, without
from jobs.facts.credited_revenue import with_revenue_recounted
from jobs.facts.customers import Resolution, resolve, touched_emails, with_customers
from jobs.facts.fact_table_io import is_staged, load_orders, load_sessions, stage_ids
from jobs.facts.first_sessions import SAME_PAIR, pairs_losing_first, pairs_of
from jobs.facts.orders import batch_orders, replaced
from jobs.facts.partials import NOTHING_REMOVED, Partials, Removed
from jobs.facts.sessions import BatchSessions, StoredSessions, batch_sessions
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import MICROS_PER_DAY, NEVER
from warehouse.tables.base import column_names

# Whom a submission and an order can have in common.
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
    """Orders from one submission of a person until the next."""
    return (
        f'f.created_at BETWEEN k."low" AND k."high" AND NOT EXISTS (SELECT 1 FROM {_same(name)} '
        'AND n.submitted_at > k."low" AND n.submitted_at <= f.created_at)'
    )


def _last(name: str) -> str:
    """The last submission of a person by an instant, and all that tie with it."""
    return (
        f"f.submitted_at <> {NEVER} AND f.submitted_at = (SELECT n.submitted_at FROM {_same(name)} "
        'AND n.submitted_at <= k."at" ORDER BY n.submitted_at DESC LIMIT 1)'
    )


def _last_with_code(name: str) -> str:
    """The last one in the window that was issued a code, and all of the person that tie with it."""
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


_BATCH: Final = "staged_batch"
_EARLIEST_OF_PAIR: Final = (
    f"f.session = (SELECT n.session FROM {SAME_PAIR} "
    f"AND NOT {is_staged(_BATCH, 'n.session')} "
    "ORDER BY n.first_at, n.form_session_id LIMIT 1)"
)

_CODES: Final = "staged_codes"
_OF_CODES: Final = "f.edition = k.edition AND f.code = k.code"
# How often the stored facts name each staged code (see `discounts.py`).
_USAGE: Final = f"""
SELECT f.edition, f.code, f.discount_id, 0 AS form, COUNT(*) AS mentions, 0 AS submissions
FROM {_CODES} k CROSS JOIN fact_code_issued f WHERE {_OF_CODES}
GROUP BY f.edition, f.code, f.discount_id
UNION ALL SELECT f.edition, f.code, f.discount_id, 0, COUNT(*), 0
FROM {_CODES} k CROSS JOIN fact_order_code f WHERE {_OF_CODES}
GROUP BY f.edition, f.code, f.discount_id
UNION ALL SELECT f.edition, f.code, '', s.form, 0, COUNT(DISTINCT f.session)
FROM {_CODES} k CROSS JOIN fact_code_issued f CROSS JOIN fact_form_session s
WHERE {_OF_CODES} AND s.edition = f.edition AND s.session = f.session AND s.submitted_at <> {NEVER}
GROUP BY f.edition, f.code, s.form
"""


@dataclass(frozen=True)
class Gathered:
    """Stored rows and, where they decided what to read, the new versions derived from them.

    - `batch`: the sessions that have events in the batches
    - `sessions`: columns SESSION by session id, the new version derived and with customer keys: those of
      `batch`, those that are or may become the first of their visitors with the same form, those whose
      customer key may move, those that an order in `orders` is or may be credited to, and those that were
      issued a code whose discount moves
    - `orders`: columns ORDER by order id, the new version with customer keys: those whose credit is to
      be derived; `other_orders`: further orders, which only used a code whose discount moves
    - `issues`: rows of fact_code_issued, complete for each submission in `sessions` that is not in
      `batch` and each session that was issued a moved code
    - `order_codes`: rows of fact_order_code, complete for each order in `orders` and `other_orders`
    - `resolution`: what e-mails resolve to; `code_usage`: the codes that the batches name
    - `step_names`: stored rows of dim_step of the steps that the batches name, before and after events
      were removed
    """

    batch: BatchSessions
    sessions: Versions
    orders: Versions
    other_orders: pd.DataFrame
    issues: pd.DataFrame
    order_codes: Versions
    resolution: Resolution
    code_usage: CodeUsage
    step_names: Versions


@dataclass(frozen=True)
class _Changed:
    """The changes that orders may be credited to.

    - `submissions`: columns SESSION by session id; those with events in the batches, and those whose
      customer moves
    - `issues`: edition, session, code, customer, visitor, submitted_at; the codes issued to them
    """

    submissions: Versions
    issues: Versions


def gather(
    connection: ArrowConnection,
    partials: Partials,
    window_days: int,
    removed: Removed = NOTHING_REMOVED,
    *,
    recount: bool = False,
) -> Gathered:
    """Read what the partial facts touch. Leaves a transaction open.

    `removed`: stored facts that do not count any more.
    `recount`: sums over facts (the revenue of sessions, the usage of codes) are counted from the stored
    facts, instead of taken as they are stored.
    """
    window = window_days * MICROS_PER_DAY
    named = pd.concat([partials.sessions[["edition", "session_hash"]], removed.sessions])
    batch = batch_sessions(partials, _named_sessions(connection, named))
    resolution, sessions, orders = _people(connection, partials, batch, removed, recount=recount)
    changed = _changed(connection, batch, sessions)
    orders = _affected_orders(connection, changed, orders, window)
    order_codes = _order_codes(connection, partials, orders.old)
    sessions = _candidates(connection, changed, sessions, orders, order_codes, window)
    if recount:
        new = with_revenue_recounted(sessions.new, batch.ids, orders.old)
        sessions = Versions(sessions.old, new)
    code_usage = _code_usage(connection, partials, batch, order_codes, recount=recount)
    named_sessions, named_orders = _named_by_moved_codes(connection, code_usage)
    sessions = sessions.plus(named_sessions)
    other_orders = named_orders[~named_orders.index.isin(orders.old.index)]
    submissions = sessions.old[sessions.old["submitted_at"] != NEVER]
    holders = unique_ids(submissions, named_sessions)
    holders = holders[~holders.index.isin(batch.ids)]
    other_codes = fact_table_io.load(
        connection, tables.fact_order_code, key_columns(other_orders, "order")
    )
    return Gathered(
        batch=batch,
        sessions=sessions,
        orders=orders,
        other_orders=other_orders,
        issues=fact_table_io.load(
            connection, tables.fact_code_issued, key_columns(holders, "session")
        ),
        order_codes=Versions(
            *(
                pd.concat([rows, other_codes[rows.columns]], ignore_index=True)
                for rows in (order_codes.old, order_codes.new)
            )
        ),
        resolution=resolution,
        code_usage=code_usage,
        step_names=_step_names(connection, partials, removed),
    )


# Round 1


def _named_sessions(connection: ArrowConnection, named: pd.DataFrame) -> StoredSessions:
    sessions = fact_table_io.load(connection, tables.fact_form_session, named)
    keys = key_columns(sessions, "session")
    editions = {"edition": np.unique(named["edition"])}
    return StoredSessions(
        sessions=sessions,
        steps=fact_table_io.load(connection, tables.fact_step, keys),
        answers=fact_table_io.load(connection, tables.fact_answer, keys),
        issues=fact_table_io.load(connection, tables.fact_code_issued, keys),
        next_numbers=fact_table_io.load(
            connection, tables.edition, editions, columns=["edition", "next_session"]
        ),
    )


def _step_names(connection: ArrowConnection, partials: Partials, removed: Removed) -> Versions:
    named = pd.concat([partials.step_names[list(removed.steps)], removed.steps]).drop_duplicates()
    return without(fact_table_io.load(connection, tables.dim_step, named), removed.steps)


# Round 2


def _people(
    connection: ArrowConnection,
    partials: Partials,
    batch: BatchSessions,
    removed: Removed,
    *,
    recount: bool,
) -> tuple[Resolution, Versions, Versions]:
    """The resolution of e-mails; the sessions and orders whose customer key or first session may move,
    with their new customer keys."""
    orders = load_orders(connection, key_columns(partials.orders, "order"))
    standing = batch_orders(partials.orders)
    seen = partials.emails, batch.sessions.new, orders, standing, removed.emails
    emails = touched_emails(*seen)
    orders = unique_ids(orders, load_orders(connection, emails))
    versions = replaced(orders, partials.orders)
    stored = without(fact_table_io.load(connection, tables.fact_email, emails), removed.emails)
    resolution = resolve(emails, stored, partials.emails, versions)
    sessions = unique_ids(
        batch.sessions.old,
        load_sessions(connection, resolution.moved(), "f.customer_seen = 0"),
        *_first_sessions(connection, batch, recount=recount),
    )
    merged = stack(sessions[~sessions.index.isin(batch.ids)], batch.sessions.new)
    ids = partials.orders["order"].to_numpy()
    return (
        resolution,
        Versions(sessions, with_customers(merged, batch.ids, resolution)),
        Versions(versions.old, with_customers(versions.new, ids, resolution)),
    )


def _first_sessions(
    connection: ArrowConnection, batch: BatchSessions, *, recount: bool
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The sessions of the batch's visitors that are the first with a form, or may become it. `recount`: those
    that should be the first, whatever is stored."""
    pairs = pairs_of(batch.sessions.old, batch.sessions.new)
    stage_ids(connection, _BATCH, batch.sessions.old.index.to_numpy())
    return (
        load_sessions(connection, pairs, "f.is_first_session = 1"),
        load_sessions(
            connection,
            pairs if recount else pairs_losing_first(batch.sessions),
            _EARLIEST_OF_PAIR,
            equal=["edition"],
        ),
    )


# Round 3


def _changed(connection: ArrowConnection, batch: BatchSessions, sessions: Versions) -> _Changed:
    submissions = changed_submissions(sessions, batch.ids)
    moved = submissions.old[~submissions.old.index.isin(batch.ids)]
    issues = fact_table_io.load(connection, tables.fact_code_issued, key_columns(moved, "session"))
    columns = ["edition", "session", "submitted_at", *_PERSON]
    versions = (
        pd.concat([own, issues[own.columns]])[["session", "code"]].merge(
            rows[columns].reset_index(drop=True), on="session"
        )
        for own, rows in (
            (batch.issues.old, submissions.old),
            (batch.issues.new, submissions.new),
        )
    )
    return _Changed(submissions, Versions(*versions))


def _affected_orders(
    connection: ArrowConnection, changed: _Changed, orders: Versions, window: int
) -> Versions:
    """These orders and all others that the changed submissions may win or lose."""
    submissions, issues = changed.submissions, changed.issues
    stored = [load_orders(connection, key_columns(submissions.old, "session"))]
    for name in _PERSON:
        arrived = only_in(submissions.new, submissions.old, name)
        stored.append(load_orders(connection, spans_until_next(arrived, window), _until_next(name)))
        arrived = only_in(issues.new, issues.old, name, "code")
        stored.append(load_orders(connection, spans_until_next(arrived, window), _WITH_CODE))
    spans = spans_until_next(only_in(issues.new, issues.old, "code"), window)
    used = fact_table_io.load(
        connection, tables.fact_order_code, spans, _UNTIL_NEXT_ISSUED, ["edition", "order"]
    )
    stored.append(load_orders(connection, distinct_rows(key_columns(used, "order"))))
    return orders.plus(*stored)


# Round 4


def _order_codes(connection: ArrowConnection, partials: Partials, orders: pd.DataFrame) -> Versions:
    """The codes of these stored orders, old and new."""
    stored = fact_table_io.load(connection, tables.fact_order_code, key_columns(orders, "order"))
    kept = stored[~stored["order"].isin(partials.orders["order"])]
    return Versions(
        stored, pd.concat([kept, partials.order_codes[kept.columns]], ignore_index=True)
    )


def _candidates(
    connection: ArrowConnection,
    changed: _Changed,
    sessions: Versions,
    orders: Versions,
    order_codes: Versions,
    window: int,
) -> Versions:
    """These sessions, and all that one of the orders is or may be credited to."""
    submissions, issues = changed.submissions, changed.issues
    stored = [load_sessions(connection, _credited_sessions(orders.old))]
    ordered = orders.new[["edition", "order", "created_at", *_PERSON]]
    used = order_codes.new[["order", "code"]].merge(ordered.reset_index(drop=True), on="order")
    for name in _PERSON:
        gone = only_in(submissions.old, submissions.new, name)
        instants = until(_used(ordered, name), gone, window)
        stored.append(load_sessions(connection, instants, _last(name)))
        gone = only_in(issues.old, issues.new, name, "code")
        instants = until(_used(used, name, "code"), gone, window)
        stored.append(load_sessions(connection, instants, _last_with_code(name)))
    last = fact_table_io.load(
        connection,
        tables.fact_code_issued,
        until(_used(used, "code"), only_in(issues.old, issues.new, "code"), window),
        _LAST_ISSUED,
        ["edition", "session"],
    )
    stored.append(load_sessions(connection, distinct_rows(key_columns(last, "session"))))
    return sessions.plus(*stored)


def _used(orders: pd.DataFrame, *names: str) -> dict[str, Column]:
    """The values of orders in these columns (none is 0), and when: edition, the columns, at."""
    rows = orders[np.logical_and.reduce([orders[name].to_numpy() != 0 for name in names])]
    columns = key_columns(rows, *names, "created_at")
    columns["at"] = columns.pop("created_at")
    return columns


def _credited_sessions(orders: pd.DataFrame) -> dict[str, Column]:
    return distinct_rows(key_columns(orders[orders["session"] != 0], "session"))


# Round 5


def _code_usage(
    connection: ArrowConnection,
    partials: Partials,
    batch: BatchSessions,
    order_codes: Versions,
    *,
    recount: bool,
) -> CodeUsage:
    """The codes that the batches name, and their discounts."""
    before = order_codes.old[order_codes.old["order"].isin(partials.orders["order"])]
    used = Versions(before, partials.order_codes)
    codes = discounts.named_codes(batch.issues.old, batch.issues.new, used.old, used.new)
    if not row_count(codes):
        return _no_codes()
    read_usage = _recounted_usage if recount else _stored_usage
    counts = discounts.usage_counts(
        read_usage(connection, codes), batch.issues, batch.sessions, used
    )
    texts = fact_table_io.load(connection, tables.dim_text, discounts.texts_needed(counts))
    return discounts.code_usage(codes, counts, pd.concat([texts, partials.texts]))


def _no_codes() -> CodeUsage:
    return CodeUsage(
        codes=fact_table_io.no_rows(tables.code_usage, discounts.CODE),
        counts=fact_table_io.no_rows(tables.code_usage, column_names(tables.code_usage)),
        discounts=fact_table_io.no_rows(
            tables.dim_discount_code, column_names(tables.dim_discount_code)
        ),
        texts=fact_table_io.no_rows(tables.dim_text, column_names(tables.dim_text)),
    )


def _stored_usage(connection: ArrowConnection, codes: dict[str, Column]) -> pd.DataFrame:
    return fact_table_io.load(connection, tables.code_usage, codes)


def _recounted_usage(connection: ArrowConnection, codes: dict[str, Column]) -> pd.DataFrame:
    """Rows of code_usage of these codes, counted from the stored facts. Keys may repeat."""
    connection.stage(_CODES, fact_table_io.to_arrow(codes, discounts.CODE))
    return connection.rows_of(tables.code_usage, _USAGE).to_pandas()


def _named_by_moved_codes(
    connection: ArrowConnection, code_usage: CodeUsage
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The sessions and orders that name a code whose discount moves, by id."""
    stored = fact_table_io.load(connection, tables.dim_discount_code, code_usage.codes)
    moved = discounts.moved_codes(stored, code_usage.discounts)
    issues, codes = (
        fact_table_io.load(connection, table, moved, columns=["edition", name])
        for table, name in ((tables.fact_code_issued, "session"), (tables.fact_order_code, "order"))
    )
    return (
        load_sessions(connection, distinct_rows(key_columns(issues, "session"))),
        load_orders(connection, distinct_rows(key_columns(codes, "order"))),
    )

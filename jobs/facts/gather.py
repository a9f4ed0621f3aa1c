"""Gather: every stored row that a group of import batches may change or depends on, read in rounds.

    1  the sessions and orders that the batches name, with their children
    2  their people: orders and sessions that share an e-mail, sessions of the same visitor
    3  the orders whose credit may move
    4  what these orders may be credited to: submissions, and the codes issued to them
    5  the codes that the batches name, and the facts that name a code whose discount moves

Each round decides its keys by pure functions, then reads. A value derived to decide a key is
handed on in `Gathered`, so that it is derived once. A last reading, `gather_neighbours`, follows the
derivation: rollups sum whole units, and only the changes say which units those are.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from jobs.arrays.columns import Columns, row_count
from jobs.arrays.group_keys import Column, distinct_rows, except_ids
from jobs.facts import discounts, fact_table_io
from jobs.facts.affected_orders import (
    changed_submissions,
    code_instants,
    key_columns,
    only_in,
    spans_by_key,
    spans_until_next,
)
from jobs.facts.changes import (
    ORDER,
    SESSION,
    Changes,
    CodeUsage,
    Neighbours,
    Versions,
    by_id,
    stack,
    unique_ids,
    without,
)
from jobs.facts.credited_revenue import with_revenue_recounted
from jobs.facts.customers import (
    Resolution,
    changed_customers,
    resolve,
    touched_emails,
    with_customers,
)
from jobs.facts.first_sessions import in_pairs, pairs_of
from jobs.facts.orders import batch_orders, replaced
from jobs.facts.partials import NOTHING_REMOVED, Partials, Removed
from jobs.facts.sessions import BatchSessions, StoredSessions, merge_batch
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import MICROS_PER_DAY, NEVER
from warehouse.tables.base import column_names

_WITHIN: Final = 'BETWEEN k."low" AND k."high"'
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
    - `sessions`: columns SESSION by session id, the new version merged and with customer keys: those of
      `batch`, those of their visitors with the same form, those whose customer key may move, those
      that an order in `orders` is or may be credited to, and those that were issued a code whose
      discount moves
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


def gather(
    connection: ArrowConnection,
    partials: Partials,
    window_days: int,
    *,
    replace: bool = False,
    removed: Removed = NOTHING_REMOVED,
    recount: bool = False,
) -> Gathered:
    """Read what the partial facts touch. Leaves a transaction open.

    `replace`: the partial sessions have all their events, and take the place of what is stored.
    `removed`: what removed events had decided; `replace` is set then.
    `recount`: sums over facts (the revenue of sessions, the usage of codes) are counted from the stored
    facts, instead of taken as they are stored.
    """
    window = window_days * MICROS_PER_DAY
    named = pd.concat([partials.sessions[["edition", "session_hash"]], removed.sessions])
    batch = merge_batch(partials, _named_sessions(connection, named), replace=replace)
    resolution, sessions, orders = _people(connection, partials, batch, removed)
    orders = _affected_orders(connection, batch, sessions, orders, window)
    order_codes = _order_codes(connection, partials, orders.old)
    sessions = _candidates(connection, batch, sessions, orders, order_codes, window)
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
    connection: ArrowConnection, partials: Partials, batch: BatchSessions, removed: Removed
) -> tuple[Resolution, Versions, Versions]:
    """The resolution of e-mails; the sessions and orders whose customer key or first session may move,
    with their new customer keys."""
    orders = _load_orders(connection, key_columns(partials.orders, "order"))
    standing = batch_orders(partials.orders)
    seen = partials.emails, batch.sessions.new, orders, standing, removed.emails
    emails = touched_emails(*seen)
    orders = unique_ids(orders, _load_orders(connection, emails))
    versions = replaced(orders, partials.orders)
    stored = without(fact_table_io.load(connection, tables.fact_email, emails), removed.emails)
    resolution = resolve(emails, stored, partials.emails, versions)
    sessions = unique_ids(
        batch.sessions.old[SESSION],
        _load_sessions(connection, resolution.moved(), "f.customer_seen = 0"),
        _load_sessions(connection, pairs_of(batch.sessions.old, batch.sessions.new)),
    )
    merged = stack(sessions[~sessions.index.isin(batch.ids)], batch.sessions.new)
    ids = partials.orders["order"].to_numpy()
    return (
        resolution,
        Versions(sessions, with_customers(merged, batch.ids, resolution)),
        Versions(versions.old, with_customers(versions.new, ids, resolution)),
    )


# Round 3


def _affected_orders(
    connection: ArrowConnection,
    batch: BatchSessions,
    sessions: Versions,
    orders: Versions,
    window: int,
) -> Versions:
    """These orders and all others that the changed submissions may win or lose."""
    changed = changed_submissions(sessions, batch.ids)
    stored = [_load_orders(connection, key_columns(changed.old, "session"))]
    low = changed.new["submitted_at"].to_numpy()
    for name in ("customer", "visitor"):
        spans = spans_by_key(changed.new, name, low, low + window)
        # The sign keeps SQLite from looking orders up by their instants: all are in the window.
        stored.append(_load_orders(connection, spans, f"+f.created_at {_WITHIN}"))
    spans = spans_until_next(only_in(batch.issues.new, batch.issues.old), window)
    used = fact_table_io.load(
        connection, tables.fact_order_code, spans, _UNTIL_NEXT_ISSUED, ["edition", "order"]
    )
    stored.append(_load_orders(connection, distinct_rows(key_columns(used, "order"))))
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
    batch: BatchSessions,
    sessions: Versions,
    orders: Versions,
    order_codes: Versions,
    window: int,
) -> Versions:
    """These sessions, and all that one of the orders is or may be credited to."""
    created_at = orders.new["created_at"].to_numpy()
    stored = [_load_sessions(connection, _credited_sessions(orders.old))]
    for name in ("customer", "visitor"):
        spans = spans_by_key(orders.new, name, created_at - window, created_at)
        stored.append(_load_sessions(connection, spans, f"f.submitted_at {_WITHIN}"))
    last = fact_table_io.load(
        connection,
        tables.fact_code_issued,
        code_instants(order_codes.new, batch.issues),
        _LAST_ISSUED,
        ["edition", "session"],
    )
    stored.append(_load_sessions(connection, distinct_rows(key_columns(last, "session"))))
    return sessions.plus(*stored)


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
        _load_sessions(connection, distinct_rows(key_columns(issues, "session"))),
        _load_orders(connection, distinct_rows(key_columns(codes, "order"))),
    )


# After the changes are derived: what rollups must see whole


def gather_neighbours(connection: ArrowConnection, changes: Changes) -> Neighbours:
    """Read the facts that share a unit of a rollup (`Summary.unit`) with changed ones. Leaves a
    transaction open."""
    batch, summed = changes.batch_sessions, changes.sessions.of(changes.summed_sessions)
    # The sessions of the batch's own visitors were gathered to derive their first sessions.
    others = changes.sessions.of(except_ids(changes.changed_outcomes, batch))
    customers = changed_customers(changes)
    visits = _load_sessions(connection, pairs_of(others.old, others.new))
    submissions = _load_sessions(connection, customers, f"f.submitted_at <> {NEVER}")
    answered = unique_ids(submissions, summed.new[summed.new["submitted_at"] != NEVER])
    answered = answered[~answered.index.isin(batch)]
    changed = changes.sessions.of(changes.changed_outcomes)
    stored = changes.sessions.old
    of_visitors = stored[in_pairs(stored, pairs_of(changed.old, changed.new))]
    credited = unique_ids(summed.old, of_visitors, visits)
    credited = credited[credited["submitted_at"] != NEVER]
    return Neighbours(
        sessions=unique_ids(visits, submissions),
        orders=unique_ids(
            _load_orders(connection, customers),
            _load_orders(connection, key_columns(credited, "session")),
        ),
        answers=fact_table_io.load(
            connection, tables.fact_answer, key_columns(answered, "session")
        ),
    )


def _load_sessions(
    connection: ArrowConnection, keys: Columns, condition: str = "true"
) -> pd.DataFrame:
    rows = fact_table_io.load(connection, tables.fact_form_session, keys, condition, SESSION)
    return by_id(rows, "session")


def _load_orders(
    connection: ArrowConnection, keys: Columns, condition: str = "true"
) -> pd.DataFrame:
    return by_id(fact_table_io.load(connection, tables.fact_order, keys, condition, ORDER), "order")

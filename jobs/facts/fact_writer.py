"""The changed facts, written. All of it is part of the caller's transaction."""

from collections.abc import Collection
from typing import Final

import pandas as pd
from sqlalchemy import Table

from jobs.arrays.group_keys import except_ids, sorted_unique
from jobs.facts import fact_table_io
from jobs.facts.changes import ORDER_DERIVED, SESSION_DERIVED, Changes, Versions
from jobs.facts.sessions import next_numbers
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.tables.base import key_names

_SESSION: Final = ["edition", "session"]
_ORDER: Final = ["edition", "order"]


def write_changes(
    connection: ArrowConnection, changes: Changes, empty: Collection[int] = ()
) -> None:
    """Put the new version of all changed facts in the place of the old one. `empty`: editions that have no
    facts."""

    def replace(table: Table, key: list[str], rows: Versions) -> None:
        fact_table_io.replace(connection, table, rows.old[key], rows.new)

    _write_sessions(connection, changes)
    replace(tables.fact_step, _SESSION, changes.steps)
    replace(tables.fact_answer, _SESSION, changes.answers)
    replace(tables.fact_code_issued, _SESSION, changes.issues)
    _write_orders(connection, changes)
    replace(tables.fact_order_code, _ORDER, changes.order_codes)
    usage = changes.code_usage
    fact_table_io.replace(connection, tables.code_usage, usage.codes, usage.counts)
    fact_table_io.replace(connection, tables.dim_discount_code, usage.codes, usage.discounts)
    replace(tables.fact_email, list(key_names(tables.fact_email)), changes.emails)
    replace(tables.dim_step, list(key_names(tables.dim_step)), changes.step_names)
    fact_table_io.append_missing(connection, tables.dim_text, changes.texts, empty)
    fact_table_io.append_missing(connection, tables.dim_utm, changes.utms, empty)


def _write_sessions(connection: ArrowConnection, changes: Changes) -> None:
    """All columns of the sessions with new events; the derived columns of other changed ones. A session
    without a new version has no event left, and goes."""
    batch = changes.batch_sessions
    rows = changes.sessions.of(batch)
    new = pd.concat([rows.new, changes.deciding_events], axis="columns")
    fact_table_io.replace(connection, tables.fact_form_session, rows.old[_SESSION], new)
    numbers = next_numbers(except_ids(new.index.to_numpy(), rows.old.index.to_numpy()))
    fact_table_io.update(connection, tables.edition, numbers, ["next_session"])
    others = changes.sessions.of(except_ids(changes.changed_sessions, batch))
    fact_table_io.update(connection, tables.fact_form_session, others.new, SESSION_DERIVED)


def _write_orders(connection: ArrowConnection, changes: Changes) -> None:
    """All columns of the orders in the batches; the derived columns of other changed ones. An order
    without a new version became a test or has no row left, and goes."""
    batch = changes.order_ids.index
    gone = except_ids(changes.changed_orders, changes.orders.new.index.to_numpy())
    rows = changes.orders.of(sorted_unique(batch.to_numpy(), gone))
    new = pd.concat([rows.new, changes.order_ids], axis="columns")
    fact_table_io.replace(connection, tables.fact_order, rows.old[_ORDER], new)
    others = except_ids(changes.changed_orders, sorted_unique(batch.to_numpy(), gone))
    updated = changes.orders.of(others).new
    fact_table_io.update(connection, tables.fact_order, updated, ORDER_DERIVED)

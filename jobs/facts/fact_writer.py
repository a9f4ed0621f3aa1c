"""The changed facts as rows of tables, and written. All of it is part of the caller's transaction."""

from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

import pandas as pd
from sqlalchemy import Table

from jobs.arrays.group_keys import except_ids
from jobs.facts import fact_table_io
from jobs.facts.changes import ORDER_DERIVED, SESSION_DERIVED, Changes, Versions
from jobs.facts.sessions import next_numbers
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.tables.base import key_names

_SESSION: Final = ["edition", "session"]
_ORDER: Final = ["edition", "order"]


class Replacement(NamedTuple):
    """Rows of a table that take the place of those stored under some keys (some columns of the table)."""

    table: Table
    keys: pd.DataFrame
    rows: pd.DataFrame


def replacements(changes: Changes) -> Iterator[Replacement]:
    """All whole rows that changes replace: those of the sessions and orders with raw rows in the batches, and
    what follows from these. One without a new version has no row left, and goes."""

    def versions(table: Table, key: list[str], rows: Versions) -> Replacement:
        return Replacement(table, rows.old[key], rows.new)

    sessions = changes.sessions.of(changes.touched)
    yield versions(tables.fact_form_session, _SESSION, sessions)
    yield versions(tables.fact_step, _SESSION, changes.steps)
    yield versions(tables.fact_answer, _SESSION, changes.answers)
    yield versions(tables.fact_code_issued, _SESSION, changes.issues)
    orders = changes.orders.of(changes.touched_orders)
    new = pd.concat([orders.new, changes.standing_orders[["order_id"]]], axis="columns")
    yield versions(tables.fact_order, _ORDER, Versions(orders.old, new))
    yield versions(tables.fact_order_code, _ORDER, changes.order_codes)
    usage = changes.code_usage
    yield Replacement(tables.code_usage, usage.codes, usage.counts)
    yield Replacement(tables.dim_discount_code, usage.codes, usage.discounts)
    yield versions(tables.fact_email, list(key_names(tables.fact_email)), changes.emails)
    yield versions(tables.dim_step, list(key_names(tables.dim_step)), changes.step_names)


def updates(changes: Changes) -> Iterator[tuple[Table, pd.DataFrame, list[str]]]:
    """The other rows that change: table, rows, and the derived columns that are written."""
    others = except_ids(changes.changed_sessions, changes.touched)
    yield tables.fact_form_session, changes.sessions.of(others).new, SESSION_DERIVED
    others = except_ids(changes.changed_orders, changes.touched_orders)
    yield tables.fact_order, changes.orders.of(others).new, ORDER_DERIVED


def texts(changes: Changes) -> Iterator[tuple[Table, pd.DataFrame]]:
    """The rows of dimensions that must be stored, or are already."""
    yield tables.dim_text, changes.texts
    yield tables.dim_utm, changes.partials.utms


def write_changes(
    connection: ArrowConnection, changes: Changes, empty: Collection[int] = ()
) -> None:
    """Put the new version of all changed facts in the place of the old one. `empty`: editions that have no
    facts."""
    for one in replacements(changes):
        fact_table_io.replace(connection, one.table, one.keys, one.rows)
    batch = changes.sessions.of(changes.touched)
    numbers = next_numbers(except_ids(batch.new.index.to_numpy(), batch.old.index.to_numpy()))
    fact_table_io.update(connection, tables.edition, numbers, ["next_session"])
    for table, rows, columns in updates(changes):
        fact_table_io.update(connection, table, rows, columns)
    for table, rows in texts(changes):
        fact_table_io.append_missing(connection, table, rows, empty)

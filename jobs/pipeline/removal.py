"""Raw rows are taken back: facts and daily rows follow by deltas, as if the rows had never come.

A portion of the rows is one transaction, under the leases of all editions of their shops: the raw rows are
deleted, their sessions and orders are derived anew from the rows that are left (`derive.py`), and the
difference is added to the daily rows. Raw rows and figures agree at every instant, so a removal that was
killed is ended by repeating it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

import pandas as pd

from jobs.facts import kept_facts, latest_events, read_raw, touched
from jobs.facts.kept_facts import KeptBatch, KeptFacts
from jobs.facts.read_raw import rules_of
from jobs.facts.rollup_units import units_of
from jobs.pipeline import derive, nameless_orders, plan, removed_rows
from jobs.pipeline.nameless_orders import WithoutPerson
from jobs.pipeline.removed_rows import OTHER_VERSION, REMOVED_EVENT, REMOVED_ORDER
from jobs.run.job_run import JobRun
from jobs.run.phases import phase
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.editions import editions, leases
from warehouse.editions.editions import Edition
from warehouse.editions.leases import Claim
from warehouse.editions.pending_batches import is_applied, sql_list

GroupMask: TypeAlias = Callable[[pd.DataFrame], "pd.Series[bool]"]
"""A mask of `KeptFacts.groups`."""

AfterDelete: TypeAlias = Callable[[ArrowConnection, int], None]
"""A function that has more follow for a shop, in the transaction of a portion: its events are staged, and
deleted."""


@dataclass(frozen=True)
class RawRows:
    """Raw rows of shops, as SQL conditions on `raw_event` and `raw_order`. They may name temporary tables
    of the run's connection. `without_person`: the orders stay, and this takes the buyers out of them."""

    events: str = "false"
    orders: str = "false"
    without_person: WithoutPerson | None = None


def remove_rows(
    run: JobRun, shops: Iterable[int], rows: RawRows, after_delete: AfterDelete | None = None
) -> Counter[str]:
    """Delete raw rows of shops, or the buyers of orders that stay; facts and daily rows follow in the same
    transactions, and what `after_delete` does. Commits.

    Returns how many `events` and `orders` (versions of orders) it has done. Waits for the leases of the
    shops' editions. Raises Stopped after a signal; rows that are left then go when it is repeated.
    """
    counts = Counter(events=0, orders=0)

    def remove(held: Claim, free: list[int]) -> None:
        while _remove_portion(run, held, free, rows, after_delete, counts):
            run.raise_if_stopped()

    plan.while_shops_held(run, shops, remove)
    return counts


def remove_kept_facts(
    run: JobRun, shop_key: int, which: GroupMask, without_any: Collection[bytes]
) -> int:
    """The same of kept facts of a shop; returns of how many events they were. `without_any`: the digests of
    cells that have none."""
    removed = 0

    def remove(held: Claim, _free: list[int]) -> None:
        nonlocal removed
        for kept in kept_facts.read(run.connection, [shop_key], skipping=without_any):
            is_gone = which(kept.facts.groups)
            if is_gone.any():
                gone = kept._replace(facts=kept.facts.only(is_gone))
                _remove_kept(run, held, gone, kept.facts.only(~is_gone))
                removed += int(gone.facts.instants["events"].sum())
                run.raise_if_stopped()
        run.connection.commit()

    plan.while_shops_held(run, [shop_key], remove)
    return removed


def _remove_portion(
    run: JobRun,
    held: Claim,
    shops: list[int],
    rows: RawRows,
    after_delete: AfterDelete | None,
    counts: Counter[str],
) -> bool:
    """Remove some of the rows; whether there may be more of them. Commits.

    Raises LeaseLost, with nothing written, if a lease was lost or a shop has another edition now.
    """
    connection = run.connection
    phase("read")
    # An undo may follow the rollup before the server's own count: it would look for a visitor's next session
    # among all of the visitor's.
    connection.analyze_grown((tables.raw_event, tables.raw_order, *tables.FACTS))
    events = removed_rows.stage(connection, tables.raw_event, shops, rows.events).num_rows
    orders = removed_rows.stage(connection, tables.raw_order, shops, rows.orders).num_rows
    if rows.without_person:
        orders = removed_rows.stage_other_versions(connection, shops, rows.orders).num_rows
    if not events and not orders:
        return False
    phase("write")
    fence_all(connection, held)
    keep_editions(connection, held, shops)
    if _still_meet(connection, rows) != (events, orders):
        connection.rollback()
        return True
    gone = [(own, _removed_events(connection, own)) for own in _one_of_each_shop(held.editions)]
    touched_orders = f"SELECT {touched.ORDER} FROM removed_order"
    if rows.without_person:
        nameless_orders.replace(connection, rows.without_person)
        touched_orders += f" UNION ALL {nameless_orders.KEYS}"
    connection.execute(f"DELETE FROM raw_order WHERE {REMOVED_ORDER}")
    connection.execute(f"DELETE FROM repeated_order WHERE {REMOVED_ORDER}")
    delete_staged_events(connection)
    touched.stage(connection, f"SELECT {touched.SESSION} FROM removed_event", touched_orders)
    _follow(connection, gone)
    count_rows_left(connection)
    if after_delete:
        for shop_key in shops:
            after_delete(connection, shop_key)
    connection.commit()
    counts.update(events=events, orders=orders)
    run.record.rows += events + orders
    run.record.shops.update(shops)
    return removed_rows.portion_rows() <= max(events, orders)


def _remove_kept(run: JobRun, held: Claim, gone: KeptBatch, left: KeptFacts) -> None:
    """Remove some of the kept facts of a batch. Commits. Raises LeaseLost as `_remove_portion`."""
    connection, (batch_id, shop_key, facts, _) = run.connection, gone
    removed_rows.stage_kept(connection, shop_key, batch_id, facts)
    phase("write")
    fence_all(connection, held)
    keep_editions(connection, held, [shop_key])
    kept_facts.write(connection, batch_id, shop_key, left)
    touched.stage(connection, more=kept_facts.session_keys([gone]))
    _follow(
        connection,
        [
            ([edition], _counted_events(connection, edition, gone))
            for edition in held.editions
            if connection.value(
                f"SELECT 1 FROM import_batch WHERE batch_id = {batch_id} AND "
                f"{is_applied(str(edition.edition))}"
            )
        ],
    )
    connection.commit()
    run.record.shops.add(shop_key)


def _counted_events(connection: ArrowConnection, edition: Edition, gone: KeptBatch) -> pd.DataFrame:
    """The events of kept facts, as this edition has their forms counted."""
    rules = rules_of(connection, [edition.edition])
    return gone.facts.counted(gone.shop_key, rules).events(edition.edition)


def _one_of_each_shop(some: Iterable[Edition]) -> list[list[Edition]]:
    """Editions in groups that can follow together: of one window, and one of each shop."""
    groups: dict[tuple[str, int], list[Edition]] = {}
    for edition in some:
        groups.setdefault((edition.state, edition.window_days), []).append(edition)
    return list(groups.values())


def _removed_events(connection: ArrowConnection, own: list[Edition]) -> pd.DataFrame:
    """The staged events that these editions have applied, as `RawEvents.events`."""
    by_shop = derive.edition_by_shop(own)
    applied = is_applied(sql_list(by_shop.values()))
    return read_raw.read_events(connection, f"{REMOVED_EVENT} AND {applied}", by_shop).events


def _follow(
    connection: ArrowConnection, gone: Iterable[tuple[list[Edition], pd.DataFrame]]
) -> None:
    """Have figures follow what is deleted; `gone`: the events of it that some editions had."""
    for own, events in gone:
        by_shop = derive.edition_by_shop(own)
        anew = replace(
            latest_events.stage_removed(connection, by_shop),
            sessions=events[["edition", "session_hash"]].drop_duplicates(),
            orders=removed_rows.orders_of(connection, by_shop),
        )
        rows = derive.read(connection, by_shop, anew=anew)
        changes = derive.derive(connection, rows, own[0].window_days)
        calendar = derive.calendar_of(connection, own)
        units = units_of(connection, changes, calendar, removed=events)
        derive.write(connection, changes, units)
        numbers = [edition.edition for edition in own]
        editions.mark_rolled_up(connection, numbers, connection.now_micros())


def fence_all(connection: ArrowConnection, held: Claim) -> None:
    """Raise LeaseLost if the lease of one of these editions was lost."""
    numbers = [edition.edition for edition in held.editions]
    leases.fence(connection, held, numbers, connection.now_micros())


def keep_editions(connection: ArrowConnection, held: Claim, shops: list[int]) -> None:
    """Keep the shops from having other editions than the held ones, and imports from writing rows of them,
    until the end of the transaction. Raises LeaseLost, after a rollback, if one has: each must follow."""
    connection.lock_shops(sql_list(shops))
    now, then = editions.editions_of(connection, shops), held.editions
    if {edition.edition for edition in now} != {edition.edition for edition in then}:
        connection.rollback()
        raise leases.LeaseLost("a shop has another edition now")


def _still_meet(connection: ArrowConnection, rows: RawRows) -> tuple[int, int]:
    """How many of the staged events and orders still meet their condition, which an import that repeats a row
    can change until their shops are locked."""
    events, orders = (
        connection.value(f"SELECT COUNT(*) FROM {table} WHERE {removed} AND ({which})")
        for table, removed, which in (
            ("raw_event", REMOVED_EVENT, rows.events),
            ("raw_order", OTHER_VERSION if rows.without_person else REMOVED_ORDER, rows.orders),
        )
    )
    return int(events), int(orders)


def delete_staged_events(connection: ArrowConnection) -> None:
    """Delete the staged events."""
    connection.execute(f"DELETE FROM raw_event WHERE {REMOVED_EVENT}")
    connection.execute(f"DELETE FROM repeated_event WHERE {REMOVED_EVENT}")


def count_rows_left(connection: ArrowConnection) -> None:
    """Count the rows that are left of the batches of the staged rows, and delete the batches without any. One
    of which RAW_DAYS took events stays: its import can no longer be undone."""
    concerned = (
        "batch_id IN (SELECT batch_id FROM removed_event UNION SELECT batch_id FROM removed_order)"
    )
    connection.execute(
        "UPDATE import_batch SET rows = "
        "(SELECT COUNT(*) FROM raw_event r WHERE r.batch_id = import_batch.batch_id) + "
        f"(SELECT COUNT(*) FROM raw_order r WHERE r.batch_id = import_batch.batch_id) WHERE {concerned}"
    )
    empty = f"SELECT batch_id FROM import_batch WHERE rows = 0 AND purged = 0 AND {concerned}"
    for table in ("edition_batch", "import_batch"):
        connection.execute(f"DELETE FROM {table} WHERE batch_id IN ({empty})")

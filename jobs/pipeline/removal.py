"""Raw rows are taken back, by an undo or a forget. The shop's next edition is built without them.

The edition that answers read is frozen first. Then the raw rows go, a portion in each transaction; no edition
begins meanwhile (`editions.create`). The next rollup builds one from the rows that are left, publishes it,
drops the frozen one, and records that the undo or the forget is done (`plan.clean`). So a kill at any instant
leaves the old figures or the new ones.
"""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

import pandas as pd

from jobs.facts import kept_facts
from jobs.pipeline import nameless_orders, plan, removed_rows
from jobs.pipeline.nameless_orders import WithoutPerson
from jobs.pipeline.removed_rows import OTHER_VERSION, REMOVED_EVENT, REMOVED_ORDER
from jobs.run.job_run import JobRun, phase
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.editions import editions, leases
from warehouse.editions.leases import Claim
from warehouse.editions.pending_batches import sql_list

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
    run: JobRun, shops: Collection[int], rows: RawRows, after_delete: AfterDelete | None = None
) -> Counter[str]:
    """Delete raw rows of shops, or the buyers of orders that stay, and do what `after_delete` does. Commits.

    Returns how many `events` and `orders` (versions of orders) it has done. Waits for the leases of the
    shops' editions. Raises Stopped after a signal; rows that are left then go when it is repeated.
    """
    counts, frozen = Counter(events=0, orders=0), set[int]()
    while _remove_portion(run, shops, rows, after_delete, frozen, counts):
        run.raise_if_stopped()
    return counts


def remove_kept_facts(run: JobRun, shop_key: int, which: GroupMask) -> int:
    """The same of kept facts of a shop; returns of how many events they were."""
    connection, removed = run.connection, 0
    cells = [
        kept.batch_id
        for kept in kept_facts.read(connection, [shop_key])
        if which(kept.facts.groups).any()
    ]
    connection.commit()
    _freeze(run, [shop_key] if cells else [])
    for batch_id in cells:
        connection.lock_shops(str(shop_key))
        # A purge may have added facts to it before the shop was frozen, another process have ended this.
        for kept in kept_facts.read(connection, [shop_key], f"batch_id = {batch_id}"):
            is_gone = which(kept.facts.groups)
            kept_facts.write(connection, batch_id, shop_key, kept.facts.only(~is_gone))
            removed += int(kept.facts.only(is_gone).instants["events"].sum())
        connection.commit()
        run.raise_if_stopped()
    return removed


def _freeze(run: JobRun, shops: list[int]) -> None:
    """Freeze the editions of shops, when no other process writes to them. Commits."""

    def freeze(held: Claim, free: list[int]) -> None:
        keep_editions(run.connection, held, free)
        editions.freeze(run.connection, free, run.connection.now_micros())
        run.connection.commit()

    plan.while_shops_held(run, shops, freeze)


def _remove_portion(
    run: JobRun,
    shops: Collection[int],
    rows: RawRows,
    after_delete: AfterDelete | None,
    frozen: set[int],
    counts: Counter[str],
) -> bool:
    """Remove some of the rows; whether there may be more. `frozen`: the shops that are so. Commits."""
    connection = run.connection
    phase("read")
    staged_events = removed_rows.stage(connection, tables.raw_event, shops, rows.events)
    staged_orders = removed_rows.stage(connection, tables.raw_order, shops, rows.orders)
    if rows.without_person:
        staged_orders = removed_rows.stage_other_versions(connection, shops, rows.orders)
    events, orders = staged_events.num_rows, staged_orders.num_rows
    if not events and not orders:
        return False
    staged = (rows["shop_key"].to_pylist() for rows in (staged_events, staged_orders))
    own = set(chain(*staged))
    _freeze(run, sorted(own - frozen))
    frozen |= own
    phase("write")
    connection.lock_shops(sql_list(sorted(own)))
    # An import that repeats a row can change what it meets until its shop is locked.
    still_meet = tuple(
        int(connection.value(f"SELECT COUNT(*) FROM {table} WHERE {removed} AND ({which})"))
        for table, removed, which in (
            ("raw_event", REMOVED_EVENT, rows.events),
            ("raw_order", OTHER_VERSION if rows.without_person else REMOVED_ORDER, rows.orders),
        )
    )
    if still_meet != (events, orders):
        connection.rollback()
        return True
    if rows.without_person:
        nameless_orders.replace(connection, rows.without_person)
    connection.execute(f"DELETE FROM raw_order WHERE {REMOVED_ORDER}")
    connection.execute(f"DELETE FROM repeated_order WHERE {REMOVED_ORDER}")
    delete_staged_events(connection)
    count_rows_left(connection)
    if after_delete:
        for shop_key in sorted(own):
            after_delete(connection, shop_key)
    connection.commit()
    counts.update(events=events, orders=orders)
    run.record.rows += events + orders
    run.record.shops.update(own)
    return removed_rows.portion_rows() <= max(events, orders)


def keep_editions(connection: ArrowConnection, held: Claim, shops: list[int]) -> None:
    """Keep the shops from having other editions than the held ones, and imports from writing rows of them,
    until the end of the transaction. Raises LeaseLost, after a rollback, if a lease was lost or a shop has
    another edition now."""
    numbers = [edition.edition for edition in held.editions]
    leases.fence(connection, held, numbers, connection.now_micros())
    connection.lock_shops(sql_list(shops))
    now = editions.editions_of(connection, shops)
    if {edition.edition for edition in now} != set(numbers):
        connection.rollback()
        raise leases.LeaseLost("a shop has another edition now")


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

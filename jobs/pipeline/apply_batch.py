"""START HERE: apply one group of import batches to the facts and the daily rows.

    stage   the sessions and orders that the rows of the batches touch      facts/touched
    read    all rows of these                                               `derive.py`, as the next two
            (where nothing is applied yet: the rows of the batches as they lie, and nothing is staged)
    derive  the old and the new version of the facts that change
    write   the facts, and to the daily rows the difference between the rollups of both versions, in one
            transaction with the mark that the batches are applied

Only the last act writes. It begins with a fence, which fails unless this process still holds the
lease of every edition. `worker_loop.py` repeats all this until no batch is pending.
"""

from collections.abc import Iterator
from contextlib import suppress

import pandas as pd

from jobs.facts import kept_facts, touched
from jobs.facts.fact_table_io import to_arrow
from jobs.facts.rollup_units import units_of
from jobs.facts.touched import TooMany
from jobs.pipeline import derive
from jobs.pipeline.batching import BATCH_ROWS
from jobs.pipeline.derive import TouchedRows
from jobs.run.job_run import phase
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.editions import editions, failed_batches, leases
from warehouse.editions.leases import Claim
from warehouse.editions.pending_batches import Batch, sql_list


def apply(connection: ArrowConnection, held: Claim, batches: list[Batch]) -> None:
    """Apply import batches (rows of `pending_batches.pending`) to their editions, which are claimed. Commits.

    Raises LeaseLost, with nothing written, if another process has taken an edition over.
    """
    phase("read")
    # Between an import and the server's own count, it would read all raw rows for each touched session.
    connection.analyze_grown((tables.raw_event, tables.raw_order))
    numbers = {batch["edition"] for batch in batches}
    involved = [edition for edition in held.editions if edition.edition in numbers]
    by_shop = derive.edition_by_shop(involved)
    ids = [batch["batch_id"] for batch in batches]
    own = f"batch_id IN ({sql_list(ids)})"
    kept = list(kept_facts.read_counted(connection, by_shop, own))
    new = [one.facts.events(by_shop[one.shop_key]) for one in kept]
    calendar = derive.calendar_of(connection, involved)
    rolled_up = (
        f"SELECT 1 FROM edition WHERE edition IN ({sql_list(numbers)}) AND rolled_up_at <> 0"
    )
    are_first = connection.value(rolled_up) is None
    empty: set[int] | None = None

    def read(most: int) -> TouchedRows:
        return derive.read(connection, by_shop, ids, most=most)

    def parts() -> Iterator[TouchedRows]:
        """One, but where rows touch sessions that have very many."""
        if are_first:
            facts = [(by_shop[one.shop_key], one.facts) for one in kept]
            with suppress(TooMany):
                yield derive.read(connection, by_shop, ids, most=touched.ROWS_AT_ONCE, only=facts)
                return
        touched.stage(
            connection,
            f"SELECT {touched.SESSION} FROM raw_event WHERE {own}",
            f"SELECT {touched.ORDER} FROM raw_order WHERE {own}",
            kept_facts.session_keys(kept),
        )
        yield from touched.in_parts(connection, BATCH_ROWS, read)

    for rows in parts():
        phase("derive")
        changes = derive.derive(connection, rows, involved[0].window_days, are_first=are_first)
        events = pd.concat([rows.events, *new])
        del rows
        units = units_of(connection, changes, calendar, events)
        if empty is None:
            # The writing transaction must begin after the last commit of others, not where reading began.
            connection.commit()
            empty = leases.fence(connection, held, sorted(numbers), connection.now_micros())
        phase("write")
        derive.write(connection, changes, units, empty)
        new, empty, are_first = [], set(), False
        del changes, units, events
    applied = pd.DataFrame(batches, columns=["edition", "batch_id"])
    failed_batches.delete(connection, [batch for batch in batches if batch["attempts"]])
    connection.append("edition_batch", to_arrow(applied, ["edition", "batch_id"]))
    editions.mark_rolled_up(connection, sorted(numbers), connection.now_micros())
    connection.commit()

"""START HERE: apply one group of import batches to the facts and the daily rows.

    read    all rows of the sessions and orders that the batches touch
    derive  the old and the new version of the facts that change            (both: `derive.py`)
    apply   write the facts, and add to the daily rows the difference between the rollups of both
            versions, in one transaction                                    facts/fact_table_io, rollups

Only the last act writes. It begins with a fence, which fails unless this process still holds the
lease of every edition. `drain.py` repeats all this until no batch is pending.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pandas as pd

from jobs.facts import kept_facts, touched
from jobs.facts.fact_table_io import to_arrow, write_changes
from jobs.facts.rollup_units import units_of
from jobs.pipeline import derive
from jobs.pipeline.derive import TouchedRows
from jobs.run.clock import now_micros
from jobs.run.phases import phase
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.editions import editions, failed_batches, leases
from warehouse.editions.editions import Edition
from warehouse.editions.leases import Claim
from warehouse.editions.pending_batches import Batch, sql_list


@dataclass(frozen=True)
class BatchGroup:
    """Some import batches, and all rows of the sessions and orders that they touch.

    - `batches`: rows of `pending_batches.pending`; `editions`: those that they belong to
    - `events`: edition, form, at; a row per event of the batches
    """

    batches: list[Batch]
    editions: tuple[Edition, ...]
    rows: TouchedRows
    events: pd.DataFrame


def read(connection: ArrowConnection, held: Iterable[Edition], batches: list[Batch]) -> BatchGroup:
    """Read what import batches of these editions touch. Leaves no transaction open."""
    # Between an import and the server's own count, it would read all raw rows for each touched session.
    connection.analyze_grown((tables.raw_event, tables.raw_order))
    numbers = {batch["edition"] for batch in batches}
    involved = tuple(edition for edition in held if edition.edition in numbers)
    by_shop = derive.edition_by_shop(involved)
    ids = [batch["batch_id"] for batch in batches]
    own = f"batch_id IN ({sql_list(ids)})"
    kept = list(kept_facts.read_counted(connection, by_shop, own))
    touched.stage(
        connection,
        f"SELECT {touched.SESSION} FROM raw_event WHERE {own}",
        f"SELECT {touched.ORDER} FROM raw_order WHERE {own}",
        kept_facts.session_keys(kept),
    )
    rows = derive.read(connection, by_shop, ids)
    connection.commit()
    new = rows.events[np.isin(rows.events["batch"], ids)]
    events = pd.concat([new, *(one.facts.events(by_shop[one.shop_key]) for one in kept)])
    return BatchGroup(batches, involved, rows, events)


def apply(connection: ArrowConnection, held: Claim, group: BatchGroup) -> None:
    """Apply a group of import batches to its editions, which are claimed. Commits.

    Raises LeaseLost, with nothing written, if another process has taken an edition over.
    """
    numbers = [edition.edition for edition in group.editions]
    calendar = derive.calendar_of(group.editions)
    phase("derive")
    changes = derive.derive(connection, group.rows, group.editions[0].window_days)
    units = units_of(connection, changes, calendar, group.events)
    # The writing transaction must begin after the last commit of others, not where reading began.
    connection.commit()
    phase("write")
    empty = leases.fence(connection, held, numbers, connection.now_micros())
    with ThreadPoolExecutor(1) as pool:
        # Worked out while the database stores the facts.
        deltas = pool.submit(derive.deltas_of, units)
        write_changes(connection, changes, empty)
        derive.add_deltas(connection, deltas.result(), empty)
    applied = pd.DataFrame(group.batches, columns=["edition", "batch_id"])
    failed_batches.delete(connection, [batch for batch in group.batches if batch["attempts"]])
    connection.append("edition_batch", to_arrow(applied, ["edition", "batch_id"]))
    editions.mark_rolled_up(connection, numbers, now_micros())
    connection.commit()

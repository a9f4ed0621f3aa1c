"""START HERE: apply one group of import batches to the facts and the daily rows.

    read    what the raw rows say by themselves                       facts/read_raw, facts/partials
    gather  every stored row that they may change or depend on        facts/gather
    derive  the old and the new version of the facts that change      facts/derive_changes
    apply   write the facts, and add to the daily rows the difference between the rollups of both
            versions, in one transaction                              facts/fact_writer, rollups

Only the last act writes. It begins with a fence, which fails unless this process still holds the
lease of every edition. `drain.py` repeats all this until no batch is pending.
"""

from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa

from jobs.facts import kept_facts_io, read_raw
from jobs.facts.calendar import Calendar
from jobs.facts.changes import Changes
from jobs.facts.derive_changes import derive_changes
from jobs.facts.fact_table_io import to_arrow
from jobs.facts.fact_writer import write_changes
from jobs.facts.gather import gather, gather_neighbours
from jobs.facts.kept_facts import with_kept
from jobs.facts.partials import Partials, fold
from jobs.facts.rollup_units import UnitFacts, facts_by_unit
from jobs.rollups import ROLLUPS, difference
from jobs.rollups.funnel import events as roll_up_events
from jobs.run.clock import now_micros
from jobs.run.phases import phase
from warehouse.catalogue import SUMMARIES, Summary
from warehouse.connections.arrow import ArrowConnection
from warehouse.daily import writer
from warehouse.editions import editions, failed_batches, leases
from warehouse.editions.editions import Edition
from warehouse.editions.leases import Claim
from warehouse.editions.pending_batches import Batch

NO_EVENTS: Final = pd.DataFrame(
    {name: np.empty(0, np.int64) for name in ("edition", "day", "form")}
)


@dataclass(frozen=True)
class BatchGroup:
    """The content of some import batches alone.

    - `batches`: rows of `pending_batches.pending`; `editions`: those that they belong to
    - `events`: edition, day, form; a row per raw event
    """

    batches: list[Batch]
    editions: tuple[Edition, ...]
    partials: Partials
    events: pd.DataFrame


def read(
    connection: ArrowConnection,
    held: Iterable[Edition],
    batches: list[Batch],
    earlier: Iterable[Batch] = (),
) -> BatchGroup:
    """Read the raw rows and kept facts of import batches of these editions. Leaves no transaction open.

    `earlier`: batches that will be applied before these.
    """
    numbers = {batch["edition"] for batch in batches}
    involved = tuple(edition for edition in held if edition.edition in numbers)
    by_shop = {edition.shop_key: edition.edition for edition in involved}
    condition = f"batch_id IN ({', '.join(str(batch['batch_id']) for batch in batches)})"
    raw = read_raw.read_events(connection, condition, by_shop)
    applying = {batch["batch_id"] for batch in (*earlier, *batches)}
    orders = read_raw.read_orders(connection, condition, by_shop, applying=applying)
    kept = [part[1:] for part in kept_facts_io.read(connection, by_shop, condition)]
    connection.commit()
    columns = ["edition", "form", "at"]
    events = [raw.events[columns], *(facts.events(number)[columns] for number, facts in kept)]
    rows = pd.concat(events, ignore_index=True) if kept else events[0]
    days = calendar_of(involved).days(rows["edition"].to_numpy(), rows["at"].to_numpy())
    return BatchGroup(
        batches=batches,
        editions=involved,
        partials=with_kept(fold(raw, orders), kept),
        events=rows[["edition", "form"]].assign(day=days),
    )


def apply(connection: ArrowConnection, held: Claim, group: BatchGroup) -> None:
    """Apply a group of import batches to its editions, which are claimed. Commits.

    Raises LeaseLost, with nothing written, if another process has taken an edition over.
    """
    numbers = [edition.edition for edition in group.editions]
    phase("gather")
    window_days = group.editions[0].window_days
    gathered = gather(connection, group.partials, window_days)
    phase("derive")
    changes = derive_changes(group.partials, gathered, window_days)
    units = units_of(connection, changes, calendar_of(group.editions))
    # The writing transaction must begin after the last commit of others, not where reading began.
    connection.commit()
    phase("write")
    empty = leases.fence(connection, held, numbers, connection.now_micros())
    with ThreadPoolExecutor(1) as pool:
        # Worked out while the database stores the facts.
        deltas = pool.submit(deltas_of, units, group.events)
        write_changes(connection, changes, empty)
        add_deltas(connection, deltas.result(), empty)
    applied = pd.DataFrame(group.batches, columns=["edition", "batch_id"])
    failed_batches.delete(connection, [batch for batch in group.batches if batch["attempts"]])
    connection.append("edition_batch", to_arrow(applied, ["edition", "batch_id"]))
    editions.mark_rolled_up(connection, numbers, now_micros())
    connection.commit()


def calendar_of(involved: Iterable[Edition]) -> Calendar:
    """The days of these editions."""
    return Calendar({edition.edition: edition.timezone for edition in involved})


def units_of(
    connection: ArrowConnection, changes: Changes, calendar: Calendar
) -> dict[str, UnitFacts]:
    """By unit (`Summary.unit`), all that rollups must sum to know the difference of the changes."""
    return facts_by_unit(changes, gather_neighbours(connection, changes), calendar)


def deltas_of(
    units: dict[str, UnitFacts], events: pd.DataFrame, removed: pd.DataFrame = NO_EVENTS
) -> list[tuple[Summary, pa.Table]]:
    """By summary, the difference between the rollups of the old and the new version of the facts.

    `events`: edition, day, form; a row per raw event that is new to its edition; `removed`: of each that
    the edition had applied and that is removed.
    """
    deltas = []
    for summary in SUMMARIES:
        if summary.unit == "events":
            delta = difference(summary.name, roll_up_events(events), roll_up_events(removed))
        else:
            roll_up, facts = ROLLUPS[summary.name], units[summary.unit]
            delta = difference(summary.name, roll_up(facts.new), roll_up(facts.old))
        deltas.append((summary, delta))
    return deltas


def add_deltas(
    connection: ArrowConnection,
    deltas: Iterable[tuple[Summary, pa.Table]],
    empty: Collection[int] = (),
) -> None:
    """Add differences to all daily rows. `empty`: editions that have none."""
    for summary, delta in deltas:
        writer.add(connection, summary, delta, empty)

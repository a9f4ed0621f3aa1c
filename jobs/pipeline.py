"""One portion through: read, derive, roll up, write. `draining.py` repeats it until nothing waits.

It is read without a lock, under the lease of its editions. One transaction writes the facts, adds the
difference to the daily rows, and marks the import batches as taken in; it begins with the first facts
that are final, and what is worked out beside it is read over a connection of its own.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa

from jobs.clock import now_micros
from jobs.facts import raw, store
from jobs.facts.fold import Partials, fold
from jobs.facts.refresh import Refresh, refresh
from jobs.facts.slices import Calendar
from jobs.facts.written import FactWriter
from jobs.rollups import ROLLUPS, activity, difference
from jobs.stopwatch import phase
from jobs.writing import Writing
from warehouse import edition_leases, editions, failures, summaries, tables
from warehouse.bulk import Bulk
from warehouse.catalogue import SUMMARIES, Summary
from warehouse.edition_leases import Claim
from warehouse.editions import Edition
from warehouse.queue import Batch


def calendar_of(those: Iterable[Edition]) -> Calendar:
    return Calendar({edition.edition: edition.timezone for edition in those})


@dataclass(frozen=True)
class Reading:
    """What some import batches (`queue.pending` rows) say by themselves; seen: edition, day and
    form of each event."""

    batches: list[Batch]
    editions: tuple[Edition, ...]
    partials: Partials
    orders: pd.DataFrame
    utms: pd.DataFrame
    seen: pd.DataFrame
    words: raw.Words


def read(bulk: Bulk, held: Iterable[Edition], batches: list[Batch]) -> Reading:
    """Read import batches of these editions. Leaves no transaction open."""
    numbers = {batch["edition"] for batch in batches}
    involved = tuple(edition for edition in held if edition.edition in numbers)
    by_shop = {edition.shop_key: edition.edition for edition in involved}
    ids = [batch["batch_id"] for batch in batches]
    words, calendar = raw.Words(), calendar_of(involved)
    listed = f"batch_id IN ({', '.join(map(str, ids))})"
    events, utms = raw.read_events(bulk, listed, by_shop, words)
    orders, more_utms = raw.read_orders(bulk, listed, by_shop)
    bulk.commit()
    return Reading(
        batches=batches,
        editions=involved,
        partials=fold(events),
        orders=orders,
        utms=pd.concat([utms, more_utms], ignore_index=True).drop_duplicates(["edition", "utm"]),
        seen=events[["edition", "form"]].assign(
            day=calendar.days(events["edition"].to_numpy(), events["at"].to_numpy())
        ),
        words=words,
    )


def take_in(bulk: Bulk, held: Claim, reading: Reading) -> None:
    """Take what was read of import batches into the claimed editions. Commits.

    Raises LeaseLost, with nothing written, where another process has taken an edition over.
    """
    involved = reading.editions
    numbers = [edition.edition for edition in involved]
    phase("derive")
    with bulk.beside() as stored, Writing() as writing:
        writing.then(edition_leases.fence, bulk, held, numbers, now_micros())
        writer = FactWriter(bulk, writing)
        change = refresh(
            stored,
            reading.partials,
            reading.orders,
            reading.utms,
            reading.words,
            calendar_of(involved),
            involved[0].window_days,
            writer=writer,
        )
        phase("write")
        write(bulk, writing, writer, change, reading.seen)
        writing.finish()
    bulk.append(
        "edition_batch",
        store.arrow(
            pd.DataFrame(reading.batches, columns=["edition", "batch_id"]), ["edition", "batch_id"]
        ),
    )
    failures.clear(bulk, numbers)
    editions.done(bulk, numbers, now_micros())
    bulk.commit()


def write(
    bulk: Bulk, writing: Writing, writer: FactWriter, change: Refresh, seen: pd.DataFrame
) -> None:
    """Write all facts of a change but those that the writer has from `refresh`, and add to the daily
    rows the difference that it makes.

    `seen`: edition, day and form of the raw events that are new to the editions.
    """
    writer.sessions(change.work, change.sessions)
    writer.orders(change.work, change.orders)
    writer.discounts(change.discounts)
    writer.save(tables.fact_email, change.emails[["edition", "email"]], change.emails)
    names = change.step_names
    writer.save(tables.dim_step, names[["edition", "form", "step"]], names)
    writer.learn(tables.dim_text, change.words.frame())
    writer.learn(tables.dim_utm, change.utms)
    with ThreadPoolExecutor(2) as pool:
        deltas = pool.map(lambda summary: _delta(summary, change, seen), SUMMARIES)
        for summary, delta in zip(SUMMARIES, deltas, strict=True):
            writing.then(summaries.add, bulk, summary, delta)


def _delta(summary: Summary, change: Refresh, seen: pd.DataFrame) -> pa.Table:
    if summary.unit == "events":
        new = activity.rollup(seen)
        return difference(summary.name, new, new.iloc[:0])
    roll, cut = ROLLUPS[summary.name], change.cuts[summary.unit]
    return difference(summary.name, roll(cut.new), roll(cut.old))

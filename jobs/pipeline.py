"""One batch through: read, derive, roll up, write. And the drain that repeats it until nothing waits.

A batch is read and worked out without a lock, under the lease of its editions; then one transaction
writes the facts, adds the difference to the daily rows, and marks the import batches as taken in.
"""

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Final

import pandas as pd
import pyarrow as pa

from jobs.ahead import ahead, without_collection
from jobs.facts import raw, store
from jobs.facts.fold import Partials, fold
from jobs.facts.refresh import Refresh, refresh
from jobs.facts.slices import Calendar
from jobs.rollups import ROLLUPS, activity, difference
from warehouse import editions, summaries, tables
from warehouse.bulk import Bulk
from warehouse.catalogue import SUMMARIES, Summary
from warehouse.days import MICROS_PER_SECOND
from warehouse.editions import Claim, Edition

# Raw rows worked on at once: bounds the memory, and the length of a writing transaction.
BATCH_ROWS: Final = 400_000

# Between two looks at whether a lease has become free.
PAUSE_SECONDS: Final = 0.5

Progress = Callable[[int], None]


def unseen(_rows: int) -> None:
    """Progress that nobody watches."""


def now_micros() -> int:
    return int(time.time() * MICROS_PER_SECOND)


def calendar_of(those: Iterable[Edition]) -> Calendar:
    return Calendar({edition.edition: edition.timezone for edition in those})


def portions(waiting: list[dict[str, int]]) -> Iterator[list[dict[str, int]]]:
    """Batches, oldest first, in portions that are worked on in one go (at least one batch each).

    The first is small: nothing can be done beside reading it.
    """
    taken: list[dict[str, int]] = []
    rows, limit = 0, BATCH_ROWS // 8
    for batch in waiting:
        if taken and rows + batch["rows"] > limit:
            yield taken
            limit = BATCH_ROWS
            taken, rows = [], 0
        taken.append(batch)
        rows += batch["rows"]
    if taken:
        yield taken


@dataclass(frozen=True)
class Reading:
    """What some import batches (`editions.pending` rows) say by themselves; seen: edition, day and
    form of each event."""

    batches: list[dict[str, int]]
    editions: tuple[Edition, ...]
    partials: Partials
    orders: pd.DataFrame
    utms: pd.DataFrame
    seen: pd.DataFrame
    words: raw.Words


def read(bulk: Bulk, held: Iterable[Edition], batches: list[dict[str, int]]) -> Reading:
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
        utms=pd.concat([utms, more_utms]).drop_duplicates(["edition", "utm"]),
        seen=events[["edition", "form"]].assign(day=calendar.days(events["edition"], events["at"])),
        words=words,
    )


def take_in(bulk: Bulk, held: Claim, reading: Reading) -> None:
    """Take what was read of import batches into the claimed editions. Commits.

    Raises LeaseLost, with nothing written, where another process has taken an edition over.
    """
    involved = reading.editions
    change = refresh(
        bulk,
        reading.partials,
        reading.orders,
        reading.utms,
        reading.words,
        calendar_of(involved),
        involved[0].window_days,
    )
    bulk.commit()
    editions.fence(bulk, held, sorted(edition.edition for edition in involved), now_micros())
    write(bulk, change, reading.seen)
    bulk.append(
        "edition_batch",
        store.arrow(
            pd.DataFrame(reading.batches, columns=["edition", "batch_id"]), ["edition", "batch_id"]
        ),
    )
    # In the order in which imports take the rows of shops, so that neither waits for the other.
    for edition in sorted(involved, key=lambda one: one.shop_key):
        editions.done(bulk, edition.edition, edition.shop_key, now_micros())
    bulk.commit()


def write(bulk: Bulk, change: Refresh, seen: pd.DataFrame) -> None:
    """Write the facts of a change, and add the difference that it makes to the daily rows.

    `seen`: edition, day and form of the raw events that are new to the editions.
    """
    # The database writes the facts while the rollups are worked out.
    with ThreadPoolExecutor(1) as pool:
        facts = pool.submit(_write_facts, bulk, change)
        deltas = [(summary, _delta(summary, change, seen)) for summary in SUMMARIES]
        facts.result()
    for summary, delta in deltas:
        summaries.add(bulk, summary, delta)


def _delta(summary: Summary, change: Refresh, seen: pd.DataFrame) -> pa.Table:
    if summary.unit == "events":
        new = activity.rollup(seen)
        return difference(summary.name, new, new.iloc[:0])
    roll, cut = ROLLUPS[summary.name], change.cuts[summary.unit]
    return difference(summary.name, roll(cut.new), roll(cut.old))


def _write_facts(bulk: Bulk, change: Refresh) -> None:
    work, children, discounts = change.work, change.children, change.discounts
    key = ["edition", "session"]
    changed, orders = pd.Index(change.sessions), pd.Index(change.orders)
    rows = work.new_sessions.loc[work.new_sessions.index.intersection(changed)]
    gone = work.old_sessions.loc[work.old_sessions.index.intersection(changed), key]
    store.save(bulk, tables.fact_form_session, gone, rows)
    for edition, last in rows.groupby("edition")["session"].max().items():
        bulk.execute(
            "UPDATE edition SET next_session = $1 WHERE edition = $2 AND next_session < $1",
            int(last) - (int(str(edition)) << editions.SESSION_BITS) + 1,
            int(str(edition)),
        )
    store.save(bulk, tables.fact_step, children.old_steps[key], children.new_steps)
    store.save(bulk, tables.fact_answer, children.old_answers[key], children.new_answers)
    store.save(bulk, tables.fact_issue, discounts.old_issues[key], discounts.new_issues)
    store.save(
        bulk,
        tables.fact_order,
        work.old_orders.loc[work.old_orders.index.intersection(orders), ["edition", "order"]],
        work.new_orders.loc[work.new_orders.index.intersection(orders)],
    )
    store.save(
        bulk, tables.fact_order_code, discounts.old_codes[["edition", "order"]], discounts.new_codes
    )
    store.save(bulk, tables.fact_email, change.emails[["edition", "email"]], change.emails)
    store.save(bulk, tables.fact_code, discounts.gone, discounts.counts)
    store.save(bulk, tables.dim_code, discounts.gone, discounts.mapping)
    names = change.step_names
    store.save(bulk, tables.dim_step, names[["edition", "form", "step"]], names)
    store.learn(bulk, tables.dim_text, change.words.frame())
    store.learn(bulk, tables.dim_utm, change.utms)


def drain(
    bulk: Bulk, wanted: list[Edition], progress: Progress, waiting: Callable[[str], None]
) -> None:
    """Take in all that waits for these editions; what another process holds is waited for."""
    while True:
        batches = editions.pending(bulk, [edition.edition for edition in wanted])
        bulk.commit()
        if not batches:
            return
        numbers = {batch["edition"] for batch in batches}
        held = editions.claim(
            bulk, [edition for edition in wanted if edition.edition in numbers], now_micros()
        )
        if not held.editions:
            waiting(editions.holder(bulk, next(iter(numbers))))
            bulk.commit()
            time.sleep(PAUSE_SECONDS)
            continue
        try:
            drain_held(bulk, held, progress)
        except editions.LeaseLost:
            continue
        finally:
            editions.release(bulk, held)


def drain_held(bulk: Bulk, held: Claim, progress: Progress) -> None:
    """Take in all that waits for the editions of a claim. Raises LeaseLost."""
    numbers = [edition.edition for edition in held.editions]
    while waiting := editions.pending(bulk, numbers):
        bulk.commit()
        with bulk.another() as reader:
            readings = (read(reader, held.editions, batches) for batches in portions(waiting))
            with without_collection(), closing(ahead(readings)) as ready:
                for reading in ready:
                    take_in(bulk, held, reading)
                    progress(sum(batch["rows"] for batch in reading.batches))
                    gc.collect()

"""One batch through: read, derive, roll up, write. `draining.py` repeats it until nothing waits.

A batch is read and worked out without a lock, under the lease of its editions; then one transaction
writes the facts, adds the difference to the daily rows, and marks the import batches as taken in.
"""

from collections.abc import Iterable
from typing import Final

import pandas as pd

from jobs.clock import now_micros
from jobs.facts import raw, store
from jobs.facts.refresh import Refresh, refresh
from jobs.facts.slices import Calendar
from jobs.rollups import ROLLUPS, activity, difference
from jobs.stopwatch import phase
from warehouse import editions, failures, summaries, tables
from warehouse.bulk import Bulk
from warehouse.catalogue import SUMMARIES
from warehouse.editions import Claim, Edition

# Raw rows worked on at once: bounds the memory, and the length of a writing transaction.
BATCH_ROWS: Final = 300_000


def calendar_of(those: Iterable[Edition]) -> Calendar:
    return Calendar({edition.edition: edition.timezone for edition in those})


def take_in(bulk: Bulk, held: Claim, batches: list[dict[str, int]]) -> None:
    """Take import batches (`queue.pending` rows) into the claimed editions. Commits.

    Raises LeaseLost, with nothing written, where another process has taken an edition over.
    """
    numbers = {batch["edition"] for batch in batches}
    involved = [edition for edition in held.editions if edition.edition in numbers]
    by_shop = {edition.shop_key: edition.edition for edition in involved}
    ids = [batch["batch_id"] for batch in batches]
    words, calendar = raw.Words(), calendar_of(involved)
    listed = f"batch_id IN ({', '.join(map(str, ids))})"
    phase("read")
    events, utms = raw.read_events(bulk, listed, by_shop, words)
    orders, more_utms = raw.read_orders(bulk, listed, by_shop)
    phase("derive")
    change = refresh(
        bulk,
        events,
        orders,
        pd.concat([utms, more_utms]).drop_duplicates(["edition", "utm"]),
        words,
        calendar,
        involved[0].window_days,
    )
    seen = events[["edition", "form"]].assign(day=calendar.days(events["edition"], events["at"]))
    bulk.commit()
    phase("write")
    editions.fence(bulk, held, sorted(numbers), now_micros())
    write(bulk, change, seen)
    bulk.append(
        "edition_batch",
        store.arrow(
            pd.DataFrame(batches, columns=["edition", "batch_id"]), ["edition", "batch_id"]
        ),
    )
    failures.clear(bulk, batches)
    # In the order in which imports take the rows of shops, so that neither waits for the other.
    for edition in sorted(involved, key=lambda one: one.shop_key):
        editions.done(bulk, edition.edition, edition.shop_key, now_micros())
    bulk.commit()


def write(bulk: Bulk, change: Refresh, seen: pd.DataFrame) -> None:
    """Write the facts of a change, and add the difference that it makes to the daily rows.

    `seen`: edition, day and form of the raw events that are new to the editions.
    """
    _write_facts(bulk, change)
    for summary in SUMMARIES:
        if summary.unit == "events":
            new = activity.rollup(seen)
            delta = difference(summary.name, new, new.iloc[:0])
        else:
            roll, cut = ROLLUPS[summary.name], change.cuts[summary.unit]
            delta = difference(summary.name, roll(cut.new), roll(cut.old))
        summaries.add(bulk, summary, delta)


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

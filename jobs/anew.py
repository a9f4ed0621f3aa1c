"""Days anew from raw: what `backfill` writes, and what `verify` compares with what is stored."""

from collections.abc import Iterator

import pandas as pd
import pyarrow as pa

from jobs import pipeline, portions
from jobs.clock import now_micros
from jobs.facts import raw, stored
from jobs.facts.fold import fold
from jobs.facts.refresh import Refresh, refresh
from jobs.facts.slices import Calendar
from jobs.facts.written import FactWriter
from jobs.rollups import ROLLUPS, activity, difference
from jobs.writing import Writing
from warehouse import edition_leases, editions, queue, summaries
from warehouse.bulk import Bulk
from warehouse.catalogue import SUMMARIES, SUMMARY, Summary
from warehouse.days import day_start
from warehouse.edition_leases import Claim
from warehouse.editions import Edition


def spans(bulk: Bulk, edition: Edition, first: int, last: int) -> Iterator[tuple[int, int, int]]:
    """The days `first`..`last` in runs of a bounded number of events: first, last, events."""
    rows = summaries.stored_rows(bulk, SUMMARY["activity"], edition.edition, first, last)
    by_day = rows.group_by("day", use_threads=False).aggregate([("events", "sum")])
    counts = dict(zip(by_day["day"].to_pylist(), by_day["events_sum"].to_pylist(), strict=True))
    begin, events = first, 0
    for day in sorted(counts):
        if events and events + counts[day] > portions.BATCH_ROWS:
            yield begin, day - 1, events
            begin, events = day, 0
        events += counts[day]
    yield begin, last, events


def derive(bulk: Bulk, edition: Edition, first: int, last: int) -> Refresh:
    """What the raw rows of the sessions and orders of these days say, beside what is stored."""
    start, end = day_start(first, edition.timezone), day_start(last + 1, edition.timezone)
    calendar, words = pipeline.calendar_of([edition]), raw.Words()
    bulk.analyze("raw_event")
    ours = f"shop_key = {edition.shop_key} AND {queue.taken_in(edition.edition)}"
    events, utms = raw.read_events(
        bulk,
        f"{ours} AND (form_id, form_session_id) IN (SELECT form_id, form_session_id "
        f"FROM raw_event WHERE {ours} AND occurred_at >= {start} AND occurred_at < {end})",
        {edition.shop_key: edition.edition},
        words,
    )
    orders, more = raw.read_orders(
        bulk,
        f"{ours} AND created_at >= {start} AND created_at < {end}",
        {edition.shop_key: edition.edition},
    )
    utms = pd.concat([utms, more], ignore_index=True).drop_duplicates(["edition", "utm"])
    return refresh(
        bulk, fold(events), orders, utms, words, calendar, edition.window_days, afresh=True
    )


def rows_of_days(
    bulk: Bulk, edition: Edition, first: int, last: int
) -> Iterator[tuple[Summary, pa.Table]]:
    """Every summary's rows of these days, from the stored facts (activity: from the raw events)."""
    start, end = day_start(first, edition.timezone), day_start(last + 1, edition.timezone)
    calendar: Calendar = pipeline.calendar_of([edition])
    facts = stored.stored_facts(bulk, calendar, edition.edition, start, end)
    for summary in SUMMARIES:
        if summary.unit == "events":
            rows = activity.rollup(
                stored.raw_seen(bulk, calendar, edition.edition, edition.shop_key, start, end)
            )
        else:
            rows = ROLLUPS[summary.name](facts[summary.unit])
        rows = rows[rows["day"].between(first, last)]
        yield summary, difference(summary.name, rows, rows.iloc[:0])


def backfill(bulk: Bulk, held: Claim, edition: Edition, first: int, last: int) -> None:
    """Put the days `first`..`last` in place anew from raw, in one transaction. Commits."""
    change = derive(bulk, edition, first, last)
    bulk.commit()
    edition_leases.fence(bulk, held, [edition.edition], now_micros())
    nothing = pd.DataFrame({"edition": [], "day": [], "form": []}, dtype="int64")
    with Writing() as writing:
        writer = FactWriter(bulk, writing)
        writer.children(change.children)
        writer.folded(change.work)
        pipeline.write(bulk, writing, writer, change, nothing)
        writing.finish()
    for summary, rows in rows_of_days(bulk, edition, first, last):
        summaries.replace(bulk, summary, edition.edition, first, last, rows)
    editions.done(bulk, [edition.edition], now_micros())
    bulk.commit()


def compare_days(bulk: Bulk, edition: Edition, first: int, last: int) -> dict[str, int]:
    """How many daily rows of these days differ from what raw rows and facts give, by summary."""
    change = derive(bulk, edition, first, last)
    found: dict[str, int] = {}
    for summary, rows in rows_of_days(bulk, edition, first, last):
        kept = summaries.stored_rows(bulk, summary, edition.edition, first, last)
        differing = difference(summary.name, rows.to_pandas(), kept.to_pandas()).num_rows
        if summary.unit != "events":
            roll, cut = ROLLUPS[summary.name], change.cuts[summary.unit]
            differing += difference(summary.name, roll(cut.new), roll(cut.old)).num_rows
        if differing:
            found[summary.name] = differing
    return found


def compare_editions(bulk: Bulk, one: Edition, other: Edition) -> dict[str, int]:
    """How many daily rows and dimension rows differ between two editions of a shop, by table."""
    found: dict[str, int] = {}
    for summary in SUMMARIES:
        low, high = (
            bulk.table(
                f"SELECT MIN(day), MAX(day) FROM {summary.table} WHERE edition IN ($1, $2)",
                one.edition,
                other.edition,
            )
            .to_pylist()[0]
            .values()
        )
        differing = 0
        for first in range(low or 0, (high if high is not None else -1) + 1, 31):
            ours, theirs = (
                summaries.stored_rows(bulk, summary, e.edition, first, first + 30).to_pandas()
                for e in (one, other)
            )
            differing += difference(summary.name, ours, theirs.assign(edition=one.edition)).num_rows
        if differing:
            found[summary.table] = differing
    for table, columns in (
        ("dim_step", "form, step, step_index, step_name"),
        ("dim_code", "code, discount"),
    ):
        differing = sum(
            bulk.table(
                f"SELECT {columns} FROM {table} WHERE edition = $1 EXCEPT "
                f"SELECT {columns} FROM {table} WHERE edition = $2",
                a.edition,
                b.edition,
            ).num_rows
            for a, b in ((one, other), (other, one))
        )
        if differing:
            found[table] = differing
    return found

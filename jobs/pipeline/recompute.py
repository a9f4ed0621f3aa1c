"""Days recomputed from the raw rows: `backfill` writes them, `verify` compares them with what is stored."""

from collections.abc import Iterator

import pandas as pd
import pyarrow as pa

from jobs.facts import facts_of_days, read_raw
from jobs.facts.calendar import Calendar
from jobs.facts.changes import Changes
from jobs.facts.derive_changes import derive_changes
from jobs.facts.fact_writer import write_changes
from jobs.facts.gather import gather
from jobs.facts.partials import fold
from jobs.pipeline import batching
from jobs.pipeline.apply_batch import add_deltas, calendar_of, deltas_of, units_of
from jobs.rollups import ROLLUPS, difference
from jobs.rollups.funnel import events as roll_up_events
from jobs.run.clock import now_micros
from warehouse.catalogue import SUMMARIES, SUMMARY, Summary
from warehouse.connections.arrow import ArrowConnection
from warehouse.daily import writer
from warehouse.domain.time import day_start
from warehouse.editions import editions, leases, pending_batches
from warehouse.editions.editions import Edition
from warehouse.editions.leases import Claim


def spans(
    connection: ArrowConnection, edition: Edition, first: int, last: int
) -> Iterator[tuple[int, int, int]]:
    """The days `first`..`last` in spans of a bounded number of events: first day, last day, events."""
    rows = writer.stored_rows(connection, SUMMARY["events"], edition.edition, first, last)
    by_day = rows.group_by("day", use_threads=False).aggregate([("events", "sum")])
    counts = dict(zip(by_day["day"].to_pylist(), by_day["events_sum"].to_pylist(), strict=True))
    begin, events = first, 0
    for day in sorted(counts):
        if events and events + counts[day] > batching.BATCH_ROWS:
            yield begin, day - 1, events
            begin, events = day, 0
        events += counts[day]
    yield begin, last, events


def derive(connection: ArrowConnection, edition: Edition, first: int, last: int) -> Changes:
    """How the facts stored of the sessions and orders of these days differ from what raw rows say."""
    start, end = day_start(first, edition.timezone), day_start(last + 1, edition.timezone)
    connection.analyze("raw_event")
    by_shop = {edition.shop_key: edition.edition}
    applied = f"shop_key = {edition.shop_key} AND {pending_batches.is_applied(edition.edition)}"
    events = read_raw.read_events(
        connection,
        f"{applied} AND (form_id, form_session_id) IN (SELECT form_id, form_session_id "
        f"FROM raw_event WHERE {applied} AND occurred_at >= {start} AND occurred_at < {end})",
        by_shop,
    )
    orders = read_raw.read_orders(
        connection, f"{applied} AND created_at >= {start} AND created_at < {end}", by_shop
    )
    partials = fold(events, orders)
    gathered = gather(connection, partials, edition.window_days, replace=True)
    return derive_changes(partials, gathered, edition.window_days)


def rows_of_days(
    connection: ArrowConnection, edition: Edition, first: int, last: int
) -> Iterator[tuple[Summary, pa.Table]]:
    """Every summary's rows of these days, from the stored facts (`events`: from the raw events)."""
    start, end = day_start(first, edition.timezone), day_start(last + 1, edition.timezone)
    calendar: Calendar = calendar_of([edition])
    facts = facts_of_days.stored_facts(connection, calendar, edition.edition, start, end)
    for summary in SUMMARIES:
        if summary.unit == "events":
            rows = roll_up_events(
                facts_of_days.raw_events_by_day(
                    connection, calendar, edition.edition, edition.shop_key, start, end
                )
            )
        else:
            rows = ROLLUPS[summary.name](facts[summary.unit])
        rows = rows[rows["day"].between(first, last)]
        yield summary, difference(summary.name, rows, rows.iloc[:0])


def backfill(
    connection: ArrowConnection, held: Claim, edition: Edition, first: int, last: int
) -> None:
    """Recompute the facts and daily rows of the days `first`..`last` in one transaction. Commits."""
    changes = derive(connection, edition, first, last)
    units = units_of(connection, changes, calendar_of([edition]))
    connection.commit()
    leases.fence(connection, held, [edition.edition], connection.now_micros())
    write_changes(connection, changes)
    # The changed facts move rows of other days, too. The days themselves are replaced after that.
    no_events = pd.DataFrame({"edition": [], "day": [], "form": []}, dtype="int64")
    add_deltas(connection, deltas_of(units, no_events))
    for summary, rows in rows_of_days(connection, edition, first, last):
        writer.replace(connection, summary, edition.edition, first, last, rows)
    editions.mark_rolled_up(connection, [edition.edition], now_micros())
    connection.commit()


def compare_days(
    connection: ArrowConnection, edition: Edition, first: int, last: int
) -> dict[str, int]:
    """How many daily rows of these days differ from what raw rows and facts give, by summary."""
    units = units_of(connection, derive(connection, edition, first, last), calendar_of([edition]))
    differences: dict[str, int] = {}
    for summary, rows in rows_of_days(connection, edition, first, last):
        stored = writer.stored_rows(connection, summary, edition.edition, first, last)
        differing = difference(summary.name, rows.to_pandas(), stored.to_pandas()).num_rows
        if summary.unit != "events":
            roll_up, facts = ROLLUPS[summary.name], units[summary.unit]
            differing += difference(summary.name, roll_up(facts.new), roll_up(facts.old)).num_rows
        if differing:
            differences[summary.name] = differing
    return differences


def compare_editions(connection: ArrowConnection, one: Edition, other: Edition) -> dict[str, int]:
    """How many daily rows and dimension rows differ between two editions of a shop, by table."""
    differences: dict[str, int] = {}
    for summary in SUMMARIES:
        low, high = (
            connection.table(
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
                writer.stored_rows(connection, summary, e.edition, first, first + 30).to_pandas()
                for e in (one, other)
            )
            differing += difference(summary.name, ours, theirs.assign(edition=one.edition)).num_rows
        if differing:
            differences[summary.table] = differing
    for table, columns in (
        ("dim_step", "form, step, step_index, step_name"),
        ("dim_discount_code", "code, discount"),
    ):
        differing = sum(
            connection.table(
                f"SELECT {columns} FROM {table} WHERE edition = $1 EXCEPT "
                f"SELECT {columns} FROM {table} WHERE edition = $2",
                a.edition,
                b.edition,
            ).num_rows
            for a, b in ((one, other), (other, one))
        )
        if differing:
            differences[table] = differing
    return differences

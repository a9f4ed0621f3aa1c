"""Days recomputed from the raw rows: `backfill` writes them, `verify` compares them (`comparison.py`)."""

import random
from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from jobs.arrays.columns import take_rows
from jobs.arrays.group_keys import index_of_rows
from jobs.facts import day_facts, latest_events, touched
from jobs.facts.changes import Changes
from jobs.facts.day_facts import DaysByEdition
from jobs.facts.facts import Facts
from jobs.facts.rollup_units import units_of
from jobs.pipeline import batching, derive
from jobs.pipeline.derive import TouchedRows
from jobs.rollups import difference, roll_up
from warehouse.catalogue import SUMMARIES, SUMMARY, Summary
from warehouse.connections.arrow import ArrowConnection
from warehouse.connections.chunks import chunks
from warehouse.daily import group_sum, packed_rows, writer
from warehouse.domain.time import local_day
from warehouse.editions import editions, leases
from warehouse.editions.editions import Edition
from warehouse.editions.leases import Claim
from warehouse.editions.zone_rules import zone_of

# Sessions (or orders) that are derived together. A day may have more.
_DERIVED_AT_ONCE: Final = 150_000
# After every day that there is.
_LAST_DAY: Final = 10**6


def days_with_data(
    connection: ArrowConnection, edition: Edition, first: int, last: int
) -> tuple[int, int]:
    """The days `first`..`last` without those before the first and after the last day of which raw rows, kept
    facts or daily rows are stored. None is left where the first is after the last."""
    instants = " UNION ALL ".join(
        f"SELECT MIN({low}), MAX({high}) FROM {table} WHERE shop_key = $1"
        for table, low, high in (
            ("raw_event", "occurred_at", "occurred_at"),
            ("raw_order", "created_at", "created_at"),
            ("kept_facts", "first_at", "last_at"),
        )
    )
    days = " UNION ALL ".join(
        f"SELECT MIN(day), MAX(day) FROM {one.table} WHERE edition = $1" for one in SUMMARIES
    )
    rules = zone_of(connection, edition.zone_version, edition.timezone)
    stored = [
        (local_day(low, rules), local_day(high, rules))
        for low, high in _pairs(connection, instants, edition.shop_key)
    ]
    stored += _pairs(connection, days, edition.edition)
    if not stored:
        return first, first - 1
    return max(first, min(low for low, _ in stored)), min(last, max(high for _, high in stored))


def _pairs(connection: ArrowConnection, query: str, number: int) -> list[tuple[int, int]]:
    """The rows of a query of two columns that have values."""
    columns = connection.table(query, number).columns
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    return [(low, high) for low, high in rows if low is not None]


def spans(
    connection: ArrowConnection, edition: Edition, first: int, last: int
) -> Iterator[tuple[int, int, int]]:
    """The days `first`..`last` in spans of a bounded number of events: first day, last day, events."""
    own = pa.table({"edition": [edition.edition], "first": [first], "last": [last]})
    rows = writer.rows_of_spans(connection, SUMMARY["all_forms"], own)
    by_day = rows.group_by("day", use_threads=False).aggregate([("events", "sum")])
    counts = dict(zip(by_day["day"].to_pylist(), by_day["events_sum"].to_pylist(), strict=True))
    together = list(chunks(sorted(counts.items()), batching.BATCH_ROWS)) or [[]]
    begins = [first, *(days[0] for days in together[1:])]
    ends = [*(begin - 1 for begin in begins[1:]), last]
    for days, begin, end in zip(together, begins, ends, strict=True):
        yield begin, end, sum(counts[day] for day in days)


def random_days(
    connection: ArrowConnection, wanted: list[Edition], count: int
) -> Iterator[dict[Edition, list[int]]]:
    """So many random days with events of each edition, in groups of editions with the same attribution
    window and of a bounded number of events. An edition without events has no days. Commits."""
    for window_days in sorted({edition.window_days for edition in wanted}):
        some = [edition for edition in wanted if edition.window_days == window_days]
        for group in chunks(_sampled(connection, some, count), batching.BATCH_ROWS):
            yield dict(group)


def _sampled(
    connection: ArrowConnection, some: list[Edition], count: int
) -> Iterator[tuple[tuple[Edition, list[int]], int]]:
    """((edition, days), events) of those with any."""
    for together in chunks(((edition, 0) for edition in some), 0):
        numbers = [edition.edition for edition in together]
        spans = {"first": [0] * len(numbers), "last": [_LAST_DAY] * len(numbers)}
        rows = writer.rows_of_spans(
            connection, SUMMARY["all_forms"], pa.table({"edition": numbers, **spans})
        )
        connection.commit()
        events: dict[int, dict[int, int]] = {number: {} for number in numbers}
        summed = group_sum.total(
            {name: rows[name].to_numpy() for name in ("edition", "day", "events")},
            ("edition", "day"),
        )
        for number, day, count_of_day in zip(*map(np.ndarray.tolist, summed.values()), strict=True):
            events[number][day] = count_of_day
        for edition, of_day in zip(together, events.values(), strict=True):
            if days := sorted(random.sample(sorted(of_day), min(count, len(of_day)))):
                yield (edition, days), sum(of_day[day] for day in days)


def derive_days(connection: ArrowConnection, days: DaysByEdition) -> Iterator[Changes]:
    """How the facts stored of the sessions and orders of these days differ from what raw rows say, and with
    them the names of their steps and the customers of their e-mails, a part of these after the other. Sums
    over facts are counted anew."""
    connection.spill_temporary_tables()
    connection.analyze(day_facts.stage(connection, days))
    touched.stage(connection, day_facts.SESSIONS, day_facts.ORDERS)
    by_shop = derive.edition_by_shop(days)
    window_days = next(iter(days)).window_days

    def read(most: int) -> TouchedRows:
        staged = latest_events.stage_touched(connection, by_shop)
        return derive.read(connection, by_shop, anew=staged, most=most)

    for rows in touched.in_parts(connection, _DERIVED_AT_ONCE, read):
        yield derive.derive(connection, rows, window_days, recount=True)


def stage_days(
    connection: ArrowConnection, days: DaysByEdition, *, facts_may_be_wrong: bool = False
) -> Iterator[tuple[Summary, str]]:
    """Every summary, with the temporary table of its rows of these days, as the stored facts have them;
    events from the raw ones and kept facts. Strangers decide how many there are, so the database has them."""
    day_facts.stage(connection, days)
    chosen = [
        np.concatenate([np.full(len(own), edition.edition) for edition, own in days.items()]),
        np.concatenate([np.asarray(own, np.int64) for own in days.values()]),
    ]
    for summary in SUMMARIES:
        writer.stage_empty(connection, summary)
    empty = {summary.name: {edition.edition for edition in days} for summary in SUMMARIES}

    def chosen_rows(summary: Summary, facts: Facts) -> Iterator[pa.Table]:
        for (rows,) in roll_up(summary.name, facts):
            is_chosen = index_of_rows(chosen, [rows["edition"], rows["day"]]) >= 0
            own = take_rows(rows, is_chosen)
            delta = difference(summary.name, own)
            delta = packed_rows.clipped(delta) if facts_may_be_wrong else delta
            yield writer.as_stored(summary, delta)

    for unit, facts in day_facts.stored_facts(
        connection,
        derive.calendar_of(connection, days),
        derive.edition_by_shop(days),
        day_facts.spans(connection, days),
    ):
        for summary in SUMMARIES:
            if summary.unit == unit:
                rows = chosen_rows(summary, facts)
                writer.add(connection, summary.staged(), rows, empty.pop(summary.name, ()))
    for summary in SUMMARIES:
        yield summary, summary.staged().table


def backfill(
    connection: ArrowConnection, held: Claim, edition: Edition, first: int, last: int
) -> None:
    """Recompute the facts of the days `first`..`last`, and then their daily rows. Commits; more than once
    where there are very many facts: at each instant, facts and daily rows agree as they did before."""
    days = {edition: range(first, last + 1)}
    connection.analyze("raw_event")
    calendar = derive.calendar_of(connection, [edition])

    for changes in derive_days(connection, days):
        units = units_of(connection, changes, calendar)
        # The writing transaction must begin after the last commit of others, not where reading began.
        connection.commit()
        leases.fence(connection, held, [edition.edition], connection.now_micros())
        # The changed facts move rows of other days, too. The days themselves are replaced after that.
        derive.write(connection, changes, units)
    for summary, _ in stage_days(connection, days):
        writer.replace(connection, summary, edition.edition, first, last)
    editions.mark_rolled_up(connection, [edition.edition], connection.now_micros())
    connection.commit()

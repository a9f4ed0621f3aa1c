"""Days recomputed from the raw rows: `backfill` writes them, `verify` compares them (`comparison.py`)."""

import random
from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from jobs.arrays.columns import take_rows, without_rows
from jobs.arrays.group_keys import index_of_rows
from jobs.facts import day_facts, latest_events, touched
from jobs.facts.changes import Changes
from jobs.facts.day_facts import DaysByEdition
from jobs.facts.rollup_units import units_of
from jobs.pipeline import batching, derive
from jobs.rollups import difference, roll_up
from jobs.rollups.parts import DailyRows, part, total
from warehouse.catalogue import SUMMARIES, SUMMARY, Summary
from warehouse.connections.arrow import ArrowConnection
from warehouse.daily import group_sum, writer
from warehouse.domain.time import local_day
from warehouse.editions import editions, leases
from warehouse.editions.editions import Edition
from warehouse.editions.leases import Claim
from warehouse.editions.zone_rules import zone_of

# Sessions (or orders) that are derived together. A day may have more.
_DERIVED_AT_ONCE: Final = 150_000
# Editions whose days are compared together, at most.
_EDITIONS_AT_ONCE: Final = 500
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
    rows = writer.stored_rows(connection, SUMMARY["all_forms"], edition.edition, first, last)
    by_day = rows.group_by("day", use_threads=False).aggregate([("events", "sum")])
    counts = dict(zip(by_day["day"].to_pylist(), by_day["events_sum"].to_pylist(), strict=True))
    begin, events = first, 0
    for day in sorted(counts):
        if events and events + counts[day] > batching.BATCH_ROWS:
            yield begin, day - 1, events
            begin, events = day, 0
        events += counts[day]
    yield begin, last, events


def random_days(
    connection: ArrowConnection, wanted: list[Edition], count: int
) -> Iterator[dict[Edition, list[int]]]:
    """So many random days with events of each edition, in groups of editions with the same attribution
    window and of a bounded number of events. An edition without events has no days. Commits."""
    for window_days in sorted({edition.window_days for edition in wanted}):
        some = [edition for edition in wanted if edition.window_days == window_days]
        for begin in range(0, len(some), _EDITIONS_AT_ONCE):
            part = some[begin : begin + _EDITIONS_AT_ONCE]
            group: dict[Edition, list[int]] = {}
            events = 0
            for edition, of_day in zip(part, _events_of_days(connection, part), strict=True):
                days = sorted(random.sample(sorted(of_day), min(count, len(of_day))))
                own = sum(of_day[day] for day in days)
                if group and events + own > batching.BATCH_ROWS:
                    yield group
                    group, events = {}, 0
                if days:
                    group[edition] = days
                    events += own
            if group:
                yield group


def _events_of_days(connection: ArrowConnection, some: list[Edition]) -> list[dict[int, int]]:
    """The events of each day of editions. Commits."""
    spans = {
        "edition": [edition.edition for edition in some],
        "first": [0] * len(some),
        "last": [_LAST_DAY] * len(some),
    }
    rows = writer.rows_of_spans(connection, SUMMARY["all_forms"], pa.table(spans))
    connection.commit()
    found: dict[int, dict[int, int]] = {edition.edition: {} for edition in some}
    summed = group_sum.total(
        {name: rows[name].to_numpy() for name in ("edition", "day", "events")}, ("edition", "day")
    )
    for number, day, events in zip(*(column.tolist() for column in summed.values()), strict=True):
        found[number][day] = events
    return list(found.values())


def derive_days(connection: ArrowConnection, days: DaysByEdition) -> Iterator[Changes]:
    """How the facts stored of the sessions and orders of these days differ from what raw rows say, and with
    them the names of their steps and the customers of their e-mails, a part of these after the other. Sums
    over facts are counted anew."""
    connection.analyze(day_facts.stage(connection, days))
    touched.stage(connection, day_facts.SESSIONS, day_facts.ORDERS)
    by_shop = derive.edition_by_shop(days)
    window_days = next(iter(days)).window_days
    for _ in touched.in_parts(connection, _DERIVED_AT_ONCE):
        staged = latest_events.stage_touched(connection, by_shop)
        rows = derive.read(connection, by_shop, anew=staged)
        yield derive.derive(connection, rows, window_days, recount=True)


def rows_of_days(
    connection: ArrowConnection, days: DaysByEdition
) -> Iterator[tuple[Summary, pa.Table]]:
    """Every summary's rows of these days, from the stored facts; events from the raw ones and kept facts."""
    day_facts.stage(connection, days)
    chosen = [
        np.concatenate([np.full(len(own), edition.edition) for edition, own in days.items()]),
        np.concatenate([np.asarray(own, np.int64) for own in days.values()]),
    ]
    found: dict[str, list[DailyRows]] = {summary.name: [] for summary in SUMMARIES}
    for unit, facts in day_facts.stored_facts(
        connection,
        derive.calendar_of(connection, days),
        derive.edition_by_shop(days),
        day_facts.spans(connection, days),
    ):
        for summary in SUMMARIES:
            if summary.unit == unit:
                for (rows,) in roll_up(summary.name, facts):
                    is_chosen = index_of_rows(chosen, [rows["edition"], rows["day"]]) >= 0
                    found[summary.name].append(take_rows(rows, is_chosen))
    for summary in SUMMARIES:
        measures = {name: name for name in summary.measures}
        rows = total(summary.name, *(part(each, **measures) for each in found.pop(summary.name)))
        yield summary, difference(summary.name, rows, without_rows(rows))


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
    for summary, rows in rows_of_days(connection, days):
        writer.replace(connection, summary, edition.edition, first, last, rows)
    editions.mark_rolled_up(connection, [edition.edition], connection.now_micros())
    connection.commit()

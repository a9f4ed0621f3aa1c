"""The only way in which a figure changes: touched sessions and orders are derived anew from all their rows.

    stage   the keys of the sessions and orders that a change touches       facts/touched
    read    all their raw rows, and what is kept of those that are gone     facts/read_raw, facts/kept_facts
    fold    what these rows say by themselves                               facts/partials
    derive  the old and the new version of the facts that change, a subject after the other; each reads the
            stored rows that it may change or depends on
                the touched sessions and orders, from their rows            facts/sessions
                customers: e-mails resolve to other ones                    facts/customers
                the first session of each visitor                           facts/sessions
                the first order of each customer                            facts/customers
                which submission each order is credited to; revenue         facts/credits
                the discount that each code belongs to                      facts/discounts
    write   the facts, and to the daily rows the difference between         facts/fact_table_io, rollups,
            the rollups of both versions of the units that change           facts/rollup_units

A batch stages the keys of its rows; a backfill and a verify those of their days.
"""

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, islice

import numpy as np
import pandas as pd
import pyarrow as pa

from jobs.facts import credits, customers, discounts, kept_facts, read_raw, sessions
from jobs.facts.calendar import Calendar
from jobs.facts.changes import Changes
from jobs.facts.fact_table_io import write_changes
from jobs.facts.kept_facts import KeptFacts, with_kept
from jobs.facts.latest_events import with_latest
from jobs.facts.partials import NOTHING_ANEW, DecidedAnew, Partials, fold, merge_partials
from jobs.facts.read_raw import unique_texts
from jobs.facts.rollup_units import NO_EVENTS, UnitFacts
from jobs.facts.touched import TooMany
from jobs.rollups import cross_field, differences
from warehouse.catalogue import SUMMARIES, Summary
from warehouse.connections.arrow import ArrowConnection
from warehouse.daily import writer
from warehouse.domain.hash_ids import text_id
from warehouse.domain.time import NEVER
from warehouse.editions.editions import Edition
from warehouse.editions.zone_rules import zone_of


@dataclass(frozen=True)
class TouchedRows:
    """All that the touched sessions and orders have.

    - `partials`: what their rows say by themselves
    - `events`: edition, form, at; a row per raw event of the batches that are to be applied
    - `anew`: what is decided anew
    """

    partials: Partials
    events: pd.DataFrame
    anew: DecidedAnew


def calendar_of(connection: ArrowConnection, involved: Iterable[Edition]) -> Calendar:
    """The days of these editions."""
    return Calendar(
        {
            edition.edition: zone_of(connection, edition.zone_version, edition.timezone)
            for edition in involved
        }
    )


def edition_by_shop(involved: Iterable[Edition]) -> dict[int, int]:
    """The edition of each shop key; there is one of each shop."""
    return {edition.shop_key: edition.edition for edition in involved}


def read(
    connection: ArrowConnection,
    by_shop: Mapping[int, int],
    applying: Collection[int] = (),
    anew: DecidedAnew = NOTHING_ANEW,
    most: int = sys.maxsize,
    only: Sequence[tuple[int, KeptFacts]] | None = None,
) -> TouchedRows:
    """Read all rows of the touched sessions and orders. Leaves a transaction open. Raises TooMany where these
    say more than `most` things.

    `by_shop`: the edition of each shop key. A row counts if this has applied its batch, or is to apply it
    (`applying`). `anew`: the e-mails and steps that are staged (`facts/latest_events.py`), to be decided by
    all that there is. `only`: the kept facts of the batches (edition, facts), where these editions have
    applied nothing: then the rows of the batches are all that count, and nothing is staged.
    """
    are_first = only is not None
    orders = read_raw.orders_of_touched(connection, by_shop, applying, are_first=are_first)
    parts, events = [], []
    found = read_raw.events_of_touched(connection, by_shop, applying, are_first=are_first)
    with closing(found) as raw_parts:
        for raw in raw_parts:
            parts.append(fold(raw, orders))
            most -= parts[-1].size()
            if most < 0:
                raise TooMany
            events.append(raw.events.loc[raw.events["batch"].isin(applying), list(NO_EVENTS)])
            orders = read_raw.no_orders()
            # Three parts would be in memory, one of which is being read.
            del raw
    partials = merge_partials(parts)
    if only is None:
        counts = read_raw.counts("batch_id", by_shop, applying)
        only = kept_facts.of_touched(connection, by_shop, counts)
    partials = _with_codes(connection, by_shop, with_kept(partials, only))
    if len(anew.emails) or len(anew.steps):
        partials = with_latest(connection, by_shop, partials, anew)
    return TouchedRows(partials, pd.concat(events, ignore_index=True), anew)


def _with_codes(
    connection: ArrowConnection, by_shop: Mapping[int, int], partials: Partials
) -> Partials:
    """With the codes that the rules of editions say were issued to every submission of a form."""
    sessions = partials.sessions
    is_submitted = np.minimum(sessions["subscribed_at"], sessions["completed_at"]) != NEVER
    issues, texts = [partials.issues], [partials.texts]
    for shop_key, rules in read_raw.rules_of(connection, by_shop.values()).items():
        edition = by_shop[shop_key]
        for code, form_id in rules.codes.items():
            form, number = text_id(rules.counted_as(form_id)), text_id(code)
            own = is_submitted & (sessions["edition"] == edition) & (sessions["form"] == form)
            issued = sessions.loc[own, ["session_hash"]].assign(code=number, discount_id="")
            issues.append(issued)
            if len(issued):
                texts.append(pd.DataFrame({"edition": [edition], "id": [number], "text": [code]}))
    if len(issues) == 1:
        return partials
    return replace(
        partials,
        issues=pd.concat(issues, ignore_index=True).drop_duplicates(ignore_index=True),
        texts=unique_texts(*texts),
    )


def derive(
    connection: ArrowConnection,
    rows: TouchedRows,
    window_days: int,
    *,
    recount: bool = False,
    are_first: bool = False,
) -> Changes:
    """How the stored facts differ from what the rows say. Leaves a transaction open.

    `recount`: sums over facts are counted anew, in place of what is stored of them. `are_first`: nothing is
    stored of their editions.
    """
    changes = sessions.begin(connection, rows.partials, rows.anew, are_first=are_first)
    customers.set_customers(connection, changes, rows.anew.emails)
    sessions.mark_first(connection, changes, recount=recount)
    customers.mark_first_orders(connection, changes)
    credits.decide(connection, changes, window_days, recount=recount)
    discounts.name(connection, changes, recount=recount)
    return changes


def deltas_of(units: Mapping[str, UnitFacts]) -> Iterator[tuple[Summary, pa.Table]]:
    """The difference between the rollups of the old and the new version of the facts, summary by summary; of
    the last one, which may be large, in portions."""
    for summary in sorted(SUMMARIES, key=lambda summary: summary.name == cross_field.__name__):
        facts = units[summary.unit]
        for delta in differences(summary.name, facts.new, facts.old):
            yield summary, delta


def write(
    connection: ArrowConnection,
    changes: Changes,
    units: Mapping[str, UnitFacts],
    empty: Collection[int] = (),
) -> None:
    """Write the facts that change, and add to the daily rows the difference between the rollups of both
    versions of their units. `empty`: editions that have no rows."""
    with ThreadPoolExecutor(1) as pool:
        # Packed at once: so they take a fraction of the memory.
        deltas = (
            (summary, writer.as_stored(summary, delta)) for summary, delta in deltas_of(units)
        )
        # Worked out while the database stores the facts.
        first = pool.submit(list, islice(deltas, len(SUMMARIES)))
        write_changes(connection, changes, empty)
        found = first.result()
        last, begun = found.pop()
        found.reverse()
        while found:
            # Each goes out of memory with its turn.
            summary, delta = found.pop()
            writer.add(connection, summary, [delta], empty)
        rest = (delta for _, delta in deltas)
        writer.add(connection, last, chain([begun], rest), empty)

"""Distinct visitors, as rows that add up to the exact number over any range."""

from collections.abc import Iterator

import numpy as np

from jobs.arrays.columns import Columns, int_column, take_rows
from jobs.arrays.group_keys import Column, earliest, group_keys, index_of
from jobs.facts.facts import Facts
from jobs.rollups.parts import DailyRows, Part, part, total
from jobs.rollups.submissions import outcomes
from warehouse.domain.time import NO_DAY
from warehouse.domain.vocabulary import VISITOR_LEVELS, VISITOR_TYPES, visitor_kind

# The columns of links: whose active day it is, the day, and the active day before it (-1: none).
_Links = tuple[Column, Column, Column]


def visitor(facts: Facts) -> DailyRows:
    """Active days of the visitors of a form, by kind and by the previous active day of that kind.

    A visitor who was active between two days has exactly one active day there whose previous one
    lies before (or is -1: none), so the sum of those rows counts each visitor once.

    A kind is a visitor type (all sessions, the visitor's first one, the others) and a level: a view
    on its day, a submission on its day, a converted submission on the submission's day. A purchaser's rows
    are by `delay`: the rows up to a delay add up to the links of the submissions that an order followed
    within so many whole days of 24 h and one more. So a row can be negative, where a later order puts an
    active day between two others.

    The unit is (form, visitor): `facts.sessions` must hold all sessions of each that it holds at
    all, since another session's day may be the previous one, and `facts.orders` all their orders. For
    a difference, less is enough (`jobs/facts/rollup_units.py`).
    """
    sessions = take_rows(facts.sessions, int_column(facts.sessions, "visitor") != 0)
    return total("visitor", *_parts(sessions, outcomes(facts)))


def _parts(sessions: Columns, outcomes: Columns) -> Iterator[Part]:
    edition, form = int_column(sessions, "edition"), int_column(sessions, "form")
    units = group_keys(edition, form, int_column(sessions, "visitor")).dense()
    row = units.any_row()
    view_day, submit_day = int_column(sessions, "view_day"), int_column(sessions, "submit_day")
    first_order = index_of(
        outcomes["session"][outcomes["converted"] == 1], int_column(sessions, "session")
    )
    delays = np.append(outcomes["delay"][outcomes["converted"] == 1], 0)[first_order]

    def keys(unit: Column) -> dict[str, Column]:
        return {"edition": edition[row[unit]], "form": form[row[unit]]}

    is_first = int_column(sessions, "is_first_session") == 1
    types = {"all": np.ones_like(is_first), "new": is_first, "returning": ~is_first}
    for name, is_of_type in types.items():
        for level, days in (("visitors", view_day), ("submitters", submit_day)):
            unit, day, previous = _linked(units.keys, np.where(is_of_type, days, NO_DAY))
            kind = _kind(name, level)
            yield part(keys(unit), kind=kind, day=day, previous=previous, delay=0, visitors=1)
        days = np.where(is_of_type & (first_order >= 0), submit_day, NO_DAY)
        kind = _kind(name, "purchasers")
        for delay, count, (unit, day, previous) in _by_delay(units.keys, days, delays):
            yield part(
                keys(unit), kind=kind, day=day, previous=previous, delay=delay, visitors=count
            )


def _kind(name: str, level: str) -> int:
    return visitor_kind(VISITOR_TYPES.index(name), VISITOR_LEVELS.index(level))


def _by_delay(
    units: Column, days: Column, delays: Column
) -> Iterator[tuple[int | Column, int, _Links]]:
    """Links by delay, and how often each counts: 1, or -1 where one with a greater delay replaces it.

    An active day has the least delay of its rows.
    """
    active = days != NO_DAY
    units, days, delays = units[active], days[active], delays[active]
    once = earliest(group_keys(units, days).dense(), delays)
    units, days, delays = units[once], days[once], delays[once]
    # Nearly all have a single active day, and one link with it.
    is_single = np.bincount(units)[units] == 1
    single = units[is_single], days[is_single], np.full(np.count_nonzero(is_single), -1)
    yield delays[is_single], 1, single
    units, days, delays = units[~is_single], days[~is_single], delays[~is_single]
    links = _linked(units[:0], days[:0])
    for delay in np.unique(delays).tolist():
        yield delay, -1, links
        until = delays <= delay
        links = _linked(units[until], days[until])
        yield delay, 1, links


def _linked(units: Column, days: Column) -> _Links:
    """The distinct (unit, day) in order, each with the unit's previous day, -1 where none."""
    active = days != NO_DAY
    if not active.any():
        return days[active], days[active], days[active]
    units, days = units[active], days[active]
    low = days.min()
    span = days.max() - low + 1
    # Unit and day as one integer: one sort makes them distinct and puts them in order.
    both = np.sort(units * span + (days - low))
    unit, offset = np.divmod(both[np.diff(both, prepend=-1) != 0], span)
    day = offset + low
    previous = np.full_like(day, -1)
    same = unit[1:] == unit[:-1]
    previous[1:][same] = day[:-1][same]
    return unit, day, previous

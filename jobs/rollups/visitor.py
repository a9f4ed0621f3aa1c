"""Distinct visitors, as rows that add up to the exact number over any range."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from jobs.codes import Column, code
from jobs.columns import Source, ints, only
from jobs.facts.frames import Facts
from jobs.rollups.summing import Part, part, total
from warehouse.days import NO_DAY
from warehouse.vocabulary import VISITOR_LEVELS, VISITOR_TYPES, visitor_kind


def rollup(facts: Facts) -> pd.DataFrame:
    """Active days of the visitors of a form, by kind and by the previous active day of that kind.

    A visitor who was active between two days has exactly one active day there whose previous one
    lies before (or is -1: none), so the sum of those rows counts each visitor once.

    The kind is one of: all sessions, the new one, the returning ones; and of: a view on its day, a
    submission on its day, a converted submission on the submission's day.

    The unit is (form, visitor): `facts.sessions` must hold all sessions of each that it holds at
    all, since another session's day may be the previous one.
    """
    return total("visitor", *_links(only(facts.sessions, ints(facts.sessions, "visitor") != 0)))


def _links(sessions: Source) -> Iterator[Part]:
    edition, form = ints(sessions, "edition"), ints(sessions, "form")
    units = code(edition, form, ints(sessions, "visitor")).dense()
    place = units.places()
    for kind, days in _days_by_kind(sessions).items():
        unit, day, previous = _linked(units.codes, days)
        keys = {"edition": edition[place[unit]], "form": form[place[unit]]}
        yield part(keys, day=day, kind=kind, previous=previous, visitors=1)


def _days_by_kind(sessions: Source) -> dict[int, Column]:
    """For each kind the day of each session that is of that kind, NO_DAY for the others."""
    submit_day, fresh = ints(sessions, "submit_day"), ints(sessions, "fresh") == 1
    by_level = {
        "visitors": ints(sessions, "view_day"),
        "submitters": submit_day,
        "purchasers": np.where(ints(sessions, "orders") > 0, submit_day, NO_DAY),
    }
    by_type = {"all": np.ones_like(fresh), "new": fresh, "returning": ~fresh}
    return {
        visitor_kind(VISITOR_TYPES.index(name), VISITOR_LEVELS.index(level)): np.where(
            of_type, days, NO_DAY
        )
        for name, of_type in by_type.items()
        for level, days in by_level.items()
    }


def _linked(units: Column, days: Column) -> tuple[Column, Column, Column]:
    """The distinct (unit, day) in order, each with the unit's previous day, -1 where none."""
    active = days != NO_DAY
    if not active.any():
        return days[active], days[active], days[active]
    units, days = units[active], days[active]
    low = days.min()
    span = days.max() - low + 1
    # One integer for both: sorting it is the fastest way here (np.unique hashes, ten times slower).
    both = np.sort(units * span + (days - low))
    unit, offset = np.divmod(both[np.diff(both, prepend=-1) != 0], span)
    day = offset + low
    previous = np.full_like(day, -1)
    same = unit[1:] == unit[:-1]
    previous[1:][same] = day[:-1][same]
    return unit, day, previous

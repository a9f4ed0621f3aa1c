"""Distinct visitors, as rows that add up to the exact number over any range."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from jobs.arrays.columns import Columns, int_column, take_rows
from jobs.arrays.group_keys import Column, group_keys
from jobs.facts.facts import Facts
from jobs.rollups.group_sum import Part, part, total
from warehouse.domain.time import NO_DAY
from warehouse.domain.vocabulary import VISITOR_LEVELS, VISITOR_TYPES, visitor_kind


def visitor(facts: Facts) -> pd.DataFrame:
    """Active days of the visitors of a form, by kind and by the previous active day of that kind.

    A visitor who was active between two days has exactly one active day there whose previous one
    lies before (or is -1: none), so the sum of those rows counts each visitor once.

    A kind is a visitor type (all sessions, the visitor's first one, the others) and a level: a view
    on its day, a submission on its day, a converted submission on the submission's day.

    The unit is (form, visitor): `facts.sessions` must hold all sessions of each that it holds at
    all, since another session's day may be the previous one.
    """
    return total(
        "visitor", *_links(take_rows(facts.sessions, int_column(facts.sessions, "visitor") != 0))
    )


def _links(sessions: Columns) -> Iterator[Part]:
    edition, form = int_column(sessions, "edition"), int_column(sessions, "form")
    units = group_keys(edition, form, int_column(sessions, "visitor")).dense()
    row = units.any_row()
    for kind, days in _days_by_kind(sessions).items():
        unit, day, previous = _linked(units.keys, days)
        keys = {"edition": edition[row[unit]], "form": form[row[unit]]}
        yield part(keys, day=day, kind=kind, previous=previous, visitors=1)


def _days_by_kind(sessions: Columns) -> dict[int, Column]:
    """For each kind the day of each session that is of that kind, NO_DAY for the others."""
    submit_day, is_first = (
        int_column(sessions, "submit_day"),
        int_column(sessions, "is_first_session") == 1,
    )
    by_level = {
        "visitors": int_column(sessions, "view_day"),
        "submitters": submit_day,
        "purchasers": np.where(int_column(sessions, "orders") > 0, submit_day, NO_DAY),
    }
    by_type = {"all": np.ones_like(is_first), "new": is_first, "returning": ~is_first}
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
    # Unit and day as one integer: one sort makes them distinct and puts them in order.
    both = np.sort(units * span + (days - low))
    unit, offset = np.divmod(both[np.diff(both, prepend=-1) != 0], span)
    day = offset + low
    previous = np.full_like(day, -1)
    same = unit[1:] == unit[:-1]
    previous[1:][same] = day[:-1][same]
    return unit, day, previous

"""Stored facts as `Facts`: days of instants in the shop's timezone, and answers by chosen value."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from jobs.arrays.columns import int_columns
from jobs.arrays.group_keys import Column, sorted_unique
from jobs.facts import quarters
from jobs.facts.read_raw import chosen_texts
from warehouse import tables
from warehouse.catalogue import ATTRIBUTES, MILESTONES, REVENUE
from warehouse.domain.hash_ids import text_id
from warehouse.domain.time import MICROS_PER_DAY, NEVER, NO_DAY, day_start
from warehouse.domain.vocabulary import OTHER_DEVICE
from warehouse.tables.base import is_text

_SESSION: Final = [
    *("edition", "session", "form", "visitor", *ATTRIBUTES, "customer", "first_at"),
    *(milestone.instant for milestone in MILESTONES),
    *("submitted_at", *REVENUE),
]
_ORDER: Final = [column.name for column in tables.fact_order.columns if not is_text(column)]
_DAYS: Final = {milestone.day: milestone.instant for milestone in MILESTONES} | {
    "submit_day": "submitted_at"
}


class Calendar:
    """Days of instants, each by the rules of its edition's timezone."""

    def __init__(self, zones: Mapping[int, ZoneInfo]) -> None:
        self._zones = zones

    def days(self, editions: Column, instants: Column) -> Column:
        """The shop-local day number of each instant (microseconds)."""
        numbers = sorted_unique(editions)
        own = [self._zones[number] for number in numbers.tolist()]
        zones = list(dict.fromkeys(own))
        if len(zones) == 1:
            return local_days(instants, zones[0])
        days = np.empty(len(instants), dtype=np.int64)
        index = np.array([zones.index(zone) for zone in own])[np.searchsorted(numbers, editions)]
        for number, zone in enumerate(zones):
            mask = index == number
            days[mask] = local_days(instants[mask], zone)
        return days

    def sessions(self, rows: pd.DataFrame) -> dict[str, Column]:
        """Rows of fact_form_session as `Facts.sessions`."""
        columns = int_columns(rows, _SESSION)
        # A session that no event gave a device counts under "other".
        columns["device"] = np.where(columns["device"] != 0, columns["device"], OTHER_DEVICE)
        days = {day: self.days(columns["edition"], columns[at]) for day, at in _DAYS.items()}
        return columns | days

    def quarters(self, rows: pd.DataFrame) -> dict[str, Column]:
        """Rows of fact_form_session as `Facts.quarters`."""
        columns = quarters.instants(rows)
        day = self.days(columns["edition"], columns.pop("at"))
        return columns | {"day": day}

    def steps(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Rows of fact_step as `Facts.steps`."""
        rows = rows.reset_index(drop=True)
        return rows.assign(
            view_day=self.days(rows["edition"].to_numpy(), rows["viewed_at"].to_numpy())
        )

    def orders(self, rows: pd.DataFrame) -> dict[str, Column]:
        """Rows of fact_order as `Facts.orders`."""
        columns = int_columns(rows, _ORDER)
        return columns | {"day": self.days(columns["edition"], columns["created_at"])}

    def events(self, rows: pd.DataFrame) -> dict[str, Column]:
        """Raw events (edition, form, at) as `Facts.events`."""
        columns = int_columns(rows, ["edition", "form", "at"])
        day = self.days(columns["edition"], columns.pop("at"))
        return columns | {"day": day}


@lru_cache(maxsize=512)
def _day_starts(zone: ZoneInfo, first: int, last: int) -> Column:
    days = range(first, last + 2)
    return np.array([day_start(day, zone) for day in days], dtype=np.int64)


def local_days(instants: Column, zone: ZoneInfo) -> Column:
    """The shop's day of each instant; NO_DAY for NEVER.

    Every instant is found among the day starts by binary search: no Python object per row.
    """
    days = np.full(instants.shape, NO_DAY, dtype=np.int64)
    happened = instants != NEVER
    if not happened.any():
        return days
    times = instants[happened]
    if zone.key == "UTC":
        days[happened] = times // MICROS_PER_DAY
        return days
    first = int(times.min() // MICROS_PER_DAY) - 2
    last = int(times.max() // MICROS_PER_DAY) + 2
    starts = _day_starts(zone, first, last)
    days[happened] = first + np.searchsorted(starts, times, side="right") - 1
    return days


def chosen_values(answers: pd.DataFrame) -> pd.DataFrame:
    """Rows of fact_answer as `Facts.answers`: a row per chosen value, and one with value 0 each."""
    index, texts = pd.factorize(answers["value"])
    chosen = [chosen_texts(text) for text in texts.tolist()]
    ids = [[0, *map(text_id, values)] for values in chosen]
    listed = np.array([text.startswith("[") for text in texts.tolist()], dtype=np.int64)
    lengths = np.array([len(values) for values in ids], dtype=np.int64)
    flat = np.array([number for values in ids for number in values], dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    counts = lengths[index]
    rows = np.repeat(np.arange(len(answers)), counts)
    position = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return pd.DataFrame(
        {
            "edition": answers["edition"].to_numpy()[rows],
            "session": answers["session"].to_numpy()[rows],
            "field": answers["field"].to_numpy()[rows],
            "value": flat[starts[index[rows]] + position],
            "listed": listed[index[rows]],
            "paired": (position > 0) & (position <= answers["paired"].to_numpy()[rows]),
        }
    )

"""Cuts of the working set as rollups read them: old and new, by the unit that a rollup sums over."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from jobs.facts.frames import Facts
from jobs.facts.raw import Words
from warehouse.days import local_days
from warehouse.ids import text_id
from warehouse.vocabulary import OTHER_DEVICE

_SESSION_DAYS = {
    "view_day": "viewed_at",
    "start_day": "started_at",
    "subscribe_day": "subscribed_at",
    "complete_day": "completed_at",
    "submit_day": "submitted_at",
}


@dataclass(frozen=True)
class Cut:
    """The same units before and after."""

    old: Facts
    new: Facts


class Calendar:
    """Days of instants, each in its edition's timezone."""

    def __init__(self, timezones: Mapping[int, str]) -> None:
        self._timezones = timezones

    def days(self, editions: pd.Series, instants: pd.Series) -> np.ndarray:
        values, numbers = instants.to_numpy(), editions.to_numpy()
        zones = {self._timezones[number] for number in np.unique(numbers).tolist()}
        if len(zones) == 1:
            return local_days(values, zones.pop())
        days = np.empty(len(values), dtype=np.int64)
        codes, kinds = pd.factorize(np.array([self._timezones[n] for n in numbers.tolist()]))
        for code, zone in enumerate(kinds):
            mask = codes == code
            days[mask] = local_days(values[mask], str(zone))
        return days

    def sessions(self, rows: pd.DataFrame) -> pd.DataFrame:
        rows = rows.reset_index(drop=True)
        return rows.assign(
            # A session of which no event carried a device.
            device=rows["device"].where(rows["device"] != 0, OTHER_DEVICE),
            **{day: self.days(rows["edition"], rows[at]) for day, at in _SESSION_DAYS.items()},
        )

    def steps(self, rows: pd.DataFrame) -> pd.DataFrame:
        rows = rows.reset_index(drop=True)
        return rows.assign(view_day=self.days(rows["edition"], rows["viewed_at"]))

    def orders(self, rows: pd.DataFrame) -> pd.DataFrame:
        rows = rows.reset_index(drop=True)
        return rows.assign(day=self.days(rows["edition"], rows["created_at"]))


def chosen(answers: pd.DataFrame, words: Words | None = None) -> pd.DataFrame:
    """Stored answers as `Facts.answers`: a row per chosen value, and one with value 0 each."""
    codes, texts = pd.factorize(answers["value"])
    ids: list[list[int]] = []
    listed: list[int] = []
    learn = words.learn if words else text_id
    for text in texts.tolist():
        value = json.loads(text) if text else []
        listed.append(int(isinstance(value, list) and bool(text)))
        ids.append([0, *(learn(item) for item in (value if isinstance(value, list) else [value]))])
    lengths = np.array([len(group) for group in ids], dtype=np.int64)
    flat = np.array([number for group in ids for number in group], dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    counts = lengths[codes] if len(codes) else np.empty(0, np.int64)
    rows = np.repeat(np.arange(len(answers)), counts)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    values = flat[starts[codes[rows]] + within] if len(rows) else np.empty(0, np.int64)
    editions = answers["edition"].to_numpy()[rows]
    if words:
        words.note(editions, values)
    return pd.DataFrame(
        {
            "edition": editions,
            "session": answers["session"].to_numpy()[rows],
            "field": answers["field"].to_numpy()[rows],
            "value": values,
            "listed": np.array(listed, dtype=np.int64)[codes[rows]] if len(rows) else values,
        }
    )

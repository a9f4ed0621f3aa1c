"""Cuts of the working set as rollups read them: old and new, by the unit that a rollup sums over."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from jobs.codes import Column, ascending
from jobs.columns import columns as columns_of
from jobs.facts.frames import Facts
from jobs.facts.raw import Words
from warehouse import tables
from warehouse.days import local_days
from warehouse.ids import text_id
from warehouse.vocabulary import OTHER_DEVICE

_SESSION = [column.name for column in tables.fact_form_session.columns if column.kind == "whole"]
_ORDER = [column.name for column in tables.fact_order.columns if column.kind == "whole"]
_DAYS = {
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

    def days(self, editions: Column, instants: Column) -> Column:
        zones = {self._timezones[number] for number in ascending(editions).tolist()}
        if len(zones) == 1:
            return local_days(instants, zones.pop())
        days = np.empty(len(instants), dtype=np.int64)
        codes, kinds = pd.factorize(np.array([self._timezones[n] for n in editions.tolist()]))
        for code, zone in enumerate(kinds):
            mask = codes == code
            days[mask] = local_days(instants[mask], str(zone))
        return days

    def sessions(self, rows: pd.DataFrame) -> dict[str, Column]:
        columns = columns_of(rows, _SESSION)
        # A session of which no event carried a device.
        columns["device"] = np.where(columns["device"] != 0, columns["device"], OTHER_DEVICE)
        days = {day: self.days(columns["edition"], columns[at]) for day, at in _DAYS.items()}
        return columns | days

    def steps(self, rows: pd.DataFrame) -> pd.DataFrame:
        rows = rows.reset_index(drop=True)
        return rows.assign(
            view_day=self.days(rows["edition"].to_numpy(), rows["viewed_at"].to_numpy())
        )

    def orders(self, rows: pd.DataFrame) -> dict[str, Column]:
        columns = columns_of(rows, _ORDER)
        return columns | {"day": self.days(columns["edition"], columns["created_at"])}


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

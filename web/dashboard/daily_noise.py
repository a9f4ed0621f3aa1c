"""The noise of a report's daily values: what a count, or money, does by itself from day to day."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from math import sqrt
from typing import Final

import numpy as np

from warehouse.daily.group_sum import Column
from warehouse.domain.figures import FIGURES, Formula
from warehouse.domain.time import day_date, day_number
from web.api.endpoint import Endpoint
from web.api.query import Query
from web.api.rows import Row
from web.dashboard.answers import Answers
from web.dashboard.compare import Line, later
from web.dashboard.page import View
from web.dashboard.statistics import NOISE_DAYS, Noise, noise_of
from web.db.dimensions import Utm
from web.http.date_range import Window, parse_range

Cells = Mapping[str, Column]
"""Columns `day`, `key` and some measures."""

_NO_KEY: Final[Callable[[Line], int]] = lambda _: 0  # noqa: E731


Read = Callable[[Answers, Window], Cells]


def summary(
    report: Endpoint, name: str, key: str = "", where: Mapping[str, int] | None = None
) -> Read:
    """The cells of a daily summary of a report by one of its dimensions."""

    def read(answers: Answers, window: Window) -> Cells:
        query = answers.query(report, window).of_chosen()
        sums = query.sums(name, by=(key, "day") if key else ("day",), where=where)
        columns = dict(sums.columns)
        columns["key"] = columns.pop(key) if key else np.zeros_like(columns["day"])
        return columns

    return read


def orders_by_utm(
    report: Endpoint, keys_of: Callable[[Query, Iterator[Utm]], Iterable[int]]
) -> Read:
    """The cells of all orders by the key that their UTM values give."""

    def read(answers: Answers, window: Window) -> Cells:
        query = answers.query(report, window)
        columns = dict(query.sums("utm_order", by=("utm", "day")).columns)
        ids, places = np.unique(columns.pop("utm"), return_inverse=True)
        keys = np.fromiter(keys_of(query, query.each_utm(ids)), dtype=np.int64, count=len(ids))
        return {**columns, "key": keys[places]}

    return read


def daily_noise(
    view: View,
    row: Row,
    reads: Sequence[Read],
    key_of: Callable[[Line], int] = _NO_KEY,
    made_of: tuple[str, ...] = (),
) -> Callable[[Line | None, str], Noise | None]:
    """A function that gives the noise of a figure of a report's row, or of all rows (None). `reads` give the
    cells of its measures, with the number by which `key_of` finds those of a row; a figure is of the first
    that has its measures. The days before the data begin, and the first of them, say nothing. Beside another
    filter, the values are those by which the two differ."""

    @cache
    def cells() -> tuple[Window, list[list[Cells]]] | None:
        end = _end(view)
        first = max(end - NOISE_DAYS, view.comparable.begins(*made_of)) + 1
        if first > end:
            return None
        days = f"{day_date(first)}..{later(day_date(first), end - first)}"
        window = parse_range(days, view.answers.today, view.shop.timezone)
        sides = [view.answers, *([view.beside] if view.beside else [])]
        return window, [[read(side, window) for read in reads] for side in sides]

    @cache
    def noise(key: int | None, name: str) -> Noise | None:
        figure, found = row.figures.get(name) or FIGURES.get(name), cells()
        if found is None or figure is None or not figure.adds_up:
            return None
        window, sides = found
        of_sides = [_days(window, parts, row.formula(name), key) for parts in sides]
        values, *others = [days for days in of_sides if days is not None] or [np.zeros(0, np.int64)]
        if not others:
            return noise_of(window.first, values.tolist())
        noise = noise_of(window.first, (values - others[0]).tolist())
        # A change is between two sums of days, each with its noise; here it is that of both together.
        return noise and replace(noise, deviation=noise.deviation / sqrt(2))

    return lambda line, name: noise(None if line is None else key_of(line), name)


def _days(window: Window, parts: list[Cells], formula: Formula, key: int | None) -> Column | None:
    """The values of each day; None where no summary has the measures."""
    for cells in parts:
        try:
            values = formula(cells)
        except KeyError:
            # It is made of the measures of another summary.
            continue
        places = cells["day"] - window.first
        if key is not None:
            is_of_row = cells["key"] == key
            places, values = places[is_of_row], values[is_of_row]
        return np.bincount(places, values, window.last - window.first + 1)
    return None


def usual_days(
    view: View, noise: Noise | None, days: Sequence[date], *, is_count: bool = False
) -> list[tuple[int, float, float]]:
    """The band in which a day usually lies (from, to), by its place among these days: of those whose noise it
    is, and of none where the page has two filters side by side, whose difference has it."""
    if noise is None or view.beside:
        return []
    first = _end(view) - NOISE_DAYS + 1
    return [
        (place, *noise.usual_day(day_number(day), is_count=is_count))
        for place, day in enumerate(days)
        if first <= day_number(day)
    ]


def _end(view: View) -> int:
    """The last whole day that is shown; yesterday, where none is."""
    return min(view.selection.window.last, view.answers.today - 1)

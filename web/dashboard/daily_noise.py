"""The noise of a report's daily values: what a count, or money, does by itself from day to day."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from warehouse.daily.group_sum import Column
from warehouse.domain.figures import FIGURES
from warehouse.domain.time import day_date
from web.api.endpoint import Endpoint
from web.api.query import Query
from web.api.rows import Row
from web.dashboard.comparable import later
from web.dashboard.compare import Line
from web.dashboard.page import View
from web.dashboard.statistics import NOISE_DAYS, Noise, noise_of
from web.db.dimensions import Utm
from web.http.date_range import Window, parse_range

Cells = Mapping[str, Column]
"""Columns `day`, `key` and some measures."""

_NO_KEY: Final[Callable[[Line], int]] = lambda _: 0  # noqa: E731


def summary(
    view: View,
    report: Endpoint,
    name: str,
    key: str = "",
    where: Mapping[str, int] | None = None,
) -> Callable[[Window], Cells]:
    """The cells of a daily summary of a report by one of its dimensions."""

    def read(window: Window) -> Cells:
        query = view.answers.query(report, window).of_chosen()
        sums = query.sums(name, by=(key, "day") if key else ("day",), where=where)
        columns = dict(sums.columns)
        columns["key"] = columns.pop(key) if key else np.zeros_like(columns["day"])
        return columns

    return read


def orders_by_utm(
    view: View, report: Endpoint, keys_of: Callable[[Query, Iterator[Utm]], Iterable[int]]
) -> Callable[[Window], Cells]:
    """The cells of all orders by the key that their UTM values give."""

    def read(window: Window) -> Cells:
        query = view.answers.query(report, window)
        columns = dict(query.sums("utm_order", by=("utm", "day")).columns)
        ids, places = np.unique(columns.pop("utm"), return_inverse=True)
        keys = np.fromiter(keys_of(query, query.each_utm(ids)), dtype=np.int64, count=len(ids))
        return {**columns, "key": keys[places]}

    return read


def daily_noise(
    view: View,
    row: Row,
    reads: Sequence[Callable[[Window], Cells]],
    key_of: Callable[[Line], int] = _NO_KEY,
    made_of: tuple[str, ...] = (),
) -> Callable[[Line | None, str], Noise | None]:
    """Answers for a figure of a report's row, or of all rows (None). `reads` give the cells of its
    measures, with the number by which `key_of` finds those of a row; a figure is of the first that has its
    measures. The days before the data begin, and the first of them, say nothing."""
    known: list[tuple[Window, list[Cells]]] = []
    found: dict[tuple[int | None, str], Noise | None] = {}

    def cells() -> tuple[Window, list[Cells]] | None:
        if not known:
            pair = view.comparable.whole_days(*made_of)
            if pair is None or pair.reason:
                return None
            end = pair.days.last
            begins = view.comparable.begins(*made_of)
            first = max(end - NOISE_DAYS + 1, begins + 1)
            if first > end:
                return None
            days = f"{day_date(first)}..{later(day_date(first), end - first)}"
            window = parse_range(days, view.answers.today, view.shop.timezone)
            known.append((window, [read(window) for read in reads]))
        return known[0]

    def noise(line: Line | None, name: str) -> Noise | None:
        key = None if line is None else key_of(line)
        if (key, name) not in found:
            found[key, name] = _of(cells(), row, key, name)
        return found[key, name]

    return noise


def _of(
    read: tuple[Window, list[Cells]] | None, row: Row, key: int | None, name: str
) -> Noise | None:
    if read is None:
        return None
    window, parts = read
    figure = row.figures.get(name) or FIGURES.get(name)
    if figure is None or not figure.adds_up:
        return None
    formula = row.formula(name)
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
        days = np.bincount(places, values, window.last - window.first + 1)
        return noise_of(window.first, days.tolist())
    return None

"""The labels beside a chart of days: the values of its gridlines, and the names of some of its days."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from web.dashboard import formatting
from web.dashboard.charts.scale import Scale, named_days

# From here on a month says more than a day.
_MONTHS_FROM: Final = 300
# Names nearer to an end of the axis, in per cent of its width, begin or end there.
_EDGE: Final = 5


@dataclass(frozen=True, slots=True)
class DayName:
    """`x` in per cent of the width, the `anchor` of SVG."""

    text: str
    x: float
    anchor: str


@dataclass(frozen=True, slots=True)
class Axes:
    """`heights` are the labels of the gridlines, from the lowest."""

    heights: list[str]
    lines: list[float]
    zero: float
    days: list[DayName]


def axes(days: Sequence[date], scale: Scale, currency: str = "") -> Axes:
    """With a currency, the values are its minor units."""
    return Axes(
        heights=[
            formatting.short_money(tick, currency) if currency else formatting.short_count(tick)
            for tick in scale.ticks
        ],
        lines=[scale.y(tick) for tick in scale.ticks],
        zero=scale.y(0),
        days=[_named(days, place) for place in named_days(len(days))],
    )


def _named(days: Sequence[date], place: int) -> DayName:
    name = formatting.month if len(days) >= _MONTHS_FROM else formatting.short_day
    x = round(100 * (place + 0.5) / len(days), 2)
    if x < _EDGE:
        return DayName(name(days[place]), 0, "start")
    if x > 100 - _EDGE:
        return DayName(name(days[place]), 100, "end")
    return DayName(name(days[place]), x, "middle")

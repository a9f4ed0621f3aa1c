"""Charts of days: lines, and parts that stand on each other, between labelled axes.

All places are in per cent of the plot, from its top left corner: it is stretched to the width of its place,
while its texts keep their size. With a currency, values are its minor units.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import ceil, floor
from types import MappingProxyType
from typing import Any, Final

from warehouse.domain.vocabulary import DECIMALS
from web.dashboard import formatting

# Gridlines between the lowest and the highest, at most and about.
_INTERVALS: Final = 4
# Days named below a chart, at most; and days from one name to the next: days, weeks, then about months and
# years.
_NAMED_DAYS: Final = 6
_STRIDES: Final = (1, 2, 3, 7, 14, 21, 28, 56, 91, 182, 364, 728)
# From here on a month says more than a day.
_MONTHS_FROM: Final = 300
# Names nearer to an end of the axis begin or end there.
_EDGE: Final = 5
# The least distance between the names of two lines.
_NAME_HEIGHT: Final = 10
# The bar of a day, as a share of the day's width.
_BAR: Final = 0.8
_NO_NOTES: Final[Mapping[date, str]] = MappingProxyType({})


Band = Sequence[tuple[int, float, float]]
"""By the place of a day: from where to where it usually lies."""


@dataclass(frozen=True, slots=True)
class Scale:
    """From `low`, at or below 0, to `high`, at or above it, with a gridline each `step`."""

    low: int
    high: int
    step: int

    @property
    def ticks(self) -> range:
        """The values of the gridlines, from the lowest. They are evenly spaced."""
        return range(self.low, self.high + 1, self.step)

    def y(self, value: float) -> float:
        if self.low == self.high:
            return 100.0
        return round(100 * (self.high - value) / (self.high - self.low), 1)


@dataclass(frozen=True, slots=True)
class Axes:
    """`heights` are the labels of the gridlines `lines`, from the lowest; `zero` is the line of 0. `days` are
    the names of some days: (text, x, the `anchor` of SVG). `notes` are marks: (x, day, text)."""

    heights: list[str]
    lines: list[float]
    zero: float
    days: list[tuple[str, float, str]]
    notes: Sequence[tuple[float, str, str]] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """`lines`: (name, the points of an SVG polyline, the height of the name at its end). The points are one
    apart, in a plot that is `width` wide and 100 high. `data` is what the script needs to draw the same lines
    and to say the value of each day. `usual` are the points of each line's band of usual days,
    "" without one."""

    width: int
    lines: list[tuple[str, str, float]]
    axes: Axes
    data: dict[str, Any]
    usual: list[str]


@dataclass(frozen=True, slots=True)
class DayStack:
    """The bars of a day, (part, y, height), with the text that a pointer shows."""

    title: str
    left: float
    bar_left: float
    bars: list[tuple[int, float, float]]


@dataclass(frozen=True, slots=True)
class StackedDays:
    """`former` are the points of a line, one apart, through the whole of each former day, and `usual` those
    of the band of usual days; "" without any."""

    names: Sequence[str]
    days: list[DayStack]
    day_width: float
    bar_width: float
    axes: Axes
    former: str = ""
    usual: str = ""


def scale(values: Iterable[int]) -> Scale:
    """A scale that has 0 and all of the values, with steps of 1, 2 or 5 times a power of ten."""
    ends = [0, *values]
    low, high = min(ends), max(ends)
    least, power = (high - low) / _INTERVALS, 1
    while power * 5 < least:
        power *= 10
    step = next(step for step in (power, 2 * power, 5 * power) if step >= least)
    return Scale(step * floor(low / step), step * ceil(high / step), step)


def named_days(count: int) -> range:
    """The places, from 0, of the days that are named below a chart of `count` days."""
    fewest = ceil(count / _NAMED_DAYS)
    return range(0, count, next((stride for stride in _STRIDES if stride >= fewest), fewest))


def series(
    days: Sequence[date],
    values: Mapping[str, Sequence[int]],
    currency: str = "",
    notes: Mapping[date, str] = _NO_NOTES,
    usual: Sequence[Band] = (),
) -> Series:
    """The values of each line by its name, one a day, and the bands of some of them, in their order."""
    highest = [ceil(high) for band in usual for _, _, high in band]
    span = scale([*(value for line in values.values() for value in line), *highest])
    heights = _apart({name: span.y(line[-1]) for name, line in values.items()})
    return Series(
        width=len(days),
        lines=[(name, _points(line, span), heights[name]) for name, line in values.items()],
        axes=_axes(days, span, currency, notes),
        data={
            "locale": formatting.language_tag(),
            "currency": currency,
            "decimals": DECIMALS.get(currency, 2) if currency else 0,
            "first": f"{days[0]}",
            "low": span.low,
            "high": span.high,
            "lines": [{"name": name, "values": list(line)} for name, line in values.items()],
            "notes": {place: notes[day] for place, day in enumerate(days) if day in notes},
        },
        usual=[_band(band, span) for band in usual],
    )


def stacked_days(
    days: Sequence[date],
    names: Sequence[str],
    amounts: Sequence[Sequence[int]],
    currency: str,
    former: Sequence[int] = (),
    notes: Mapping[date, str] = _NO_NOTES,
    usual: Band = (),
) -> StackedDays:
    """The amounts of each day, one for each name. Parts above 0 stand on each other, parts below 0 hang
    below the line of 0. `former` are the wholes of as many days before, or none, and `usual` is
    the band of the wholes."""
    ends = [
        end
        for parts in amounts
        for end in (sum(max(part, 0) for part in parts), sum(min(part, 0) for part in parts))
    ]
    span = scale([*ends, *former, *(ceil(high) for _, _, high in usual)])

    def title(day: date, parts: Sequence[int]) -> str:
        texts = [
            f"{name} {formatting.money(part, currency, exact=True)}"
            for name, part in zip(names, parts, strict=True)
            if part
        ]
        total = ", ".join(texts) or formatting.money(0, currency, exact=True)
        return ". ".join([f"{formatting.day(day)}: {total}", *_noted(notes, day)])

    width = 100 / len(days)
    return StackedDays(
        names=names,
        days=[
            DayStack(
                title=title(day, parts),
                left=round(place * width, 2),
                bar_left=round((place + (1 - _BAR) / 2) * width, 2),
                bars=_bars(parts, span),
            )
            for place, (day, parts) in enumerate(zip(days, amounts, strict=True))
        ],
        day_width=round(width, 2),
        bar_width=round(_BAR * width, 2),
        axes=_axes(days, span, currency, notes),
        former=_points(former, span) if former else "",
        usual=_band(usual, span),
    )


def ages(curves: Sequence[Sequence[float]]) -> tuple[list[str], Axes]:
    """The points of lines through rates in per cent, one for each age from 1 day on, and their axes."""
    span = scale([ceil(rate) for rates in curves for rate in rates])
    top, count = span.high or 1, max(map(len, curves), default=0)
    lines = [
        [f"{place + 0.5},{round(100 - 100 * rate / top, 1):g}" for place, rate in enumerate(rates)]
        for rates in curves
    ]
    axes = Axes(
        heights=[formatting.percent(tick) for tick in span.ticks],
        lines=[span.y(tick) for tick in span.ticks],
        zero=span.y(0),
        days=[
            (
                formatting.age(place + 1),
                _middle(place, count),
                "start" if place == 0 else "middle",
            )
            for place in named_days(count)
        ],
    )
    # A line of one point has no length: drawn twice, it is a dot.
    return [" ".join(line if len(line) > 1 else line * 2) for line in lines], axes


def _axes(days: Sequence[date], span: Scale, currency: str, notes: Mapping[date, str]) -> Axes:
    name = formatting.month if len(days) >= _MONTHS_FROM else formatting.short_day

    def named(place: int) -> tuple[str, float, str]:
        x = _middle(place, len(days))
        if x < _EDGE:
            return name(days[place]), 0, "start"
        if x > 100 - _EDGE:
            return name(days[place]), 100, "end"
        return name(days[place]), x, "middle"

    return Axes(
        heights=[
            formatting.short_money(tick, currency) if currency else formatting.short_count(tick)
            for tick in span.ticks
        ],
        lines=[span.y(tick) for tick in span.ticks],
        zero=span.y(0),
        days=[named(place) for place in named_days(len(days))],
        notes=[
            (_middle(place, len(days)), formatting.short_day(day), text)
            for place, day in enumerate(days)
            for text in _noted(notes, day)
        ],
    )


def _noted(notes: Mapping[date, str], day: date) -> list[str]:
    return [notes[day]] if day in notes else []


def _middle(place: int, count: int) -> float:
    return round(100 * (place + 0.5) / count, 2)


def _points(values: Sequence[int], span: Scale) -> str:
    points = [f"{place + 0.5},{span.y(value):g}" for place, value in enumerate(values)]
    # A line of one point has no length: drawn twice, it is a dot.
    return " ".join(points if len(points) > 1 else points * 2)


def _band(band: Band, span: Scale) -> str:
    """The points of an area: along its foot, and back along its top."""
    if not band:
        return ""
    (first, *_), (last, *_) = band[0], band[-1]
    # From the left of its first day to the right of its last one.
    places = [first, *(place + 0.5 for place, *_ in band), last + 1]
    ends = [(low, high) for _, low, high in (band[0], *band, band[-1])]
    foot = [f"{x:g},{span.y(low):.0f}" for x, (low, _) in zip(places, ends, strict=True)]
    top = [f"{x:g},{span.y(high):.0f}" for x, (_, high) in zip(places, ends, strict=True)]
    return " ".join([*foot, *reversed(top)])


def _apart(heights: Mapping[str, float]) -> dict[str, float]:
    """The same heights, those that are too near to the one above moved down; all within the plot."""
    moved: dict[str, float] = {}
    above = -float(_NAME_HEIGHT)
    for name, height in sorted(heights.items(), key=lambda item: item[1]):
        above = moved[name] = max(height, above + _NAME_HEIGHT)
    # A name that would lie below the chart pushes the others up.
    below = 100.0 + _NAME_HEIGHT
    for name in reversed(moved):
        below = moved[name] = min(moved[name], below - _NAME_HEIGHT)
    return moved


def _bars(parts: Sequence[int], span: Scale) -> list[tuple[int, float, float]]:
    bars = []
    above = below = 0
    for part, amount in enumerate(parts):
        if amount > 0:
            above += amount
            top, foot = span.y(above), span.y(above - amount)
        elif amount < 0:
            below += amount
            top, foot = span.y(below - amount), span.y(below)
        else:
            continue
        bars.append((part, top, round(foot - top, 1)))
    return bars

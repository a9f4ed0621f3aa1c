"""Bars on a common scale, a histogram over adjoining buckets, a curve over a few named steps, and the small
line in a table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from web.dashboard.statistics import Interval

# The bars stand between the rows of the marks' labels and the labels of the axis.
_TOP: Final = 24
_BOTTOM: Final = 88
# Between two ticks, so that their labels have room on a telephone.
_TICK_GAP: Final = 14

STEP: Final = 60
"""The width of a step of a curve."""
TOP: Final = 22
"""The greatest value of a curve; the text of a value stands above it."""
BOTTOM: Final = 130
"""The line of 0 of a curve; the names of the steps stand below it."""

# From low to high (excluded), how many, and the text that a pointer shows.
Bucket = tuple[float, float, int, str]
# A text, its place on the axis, and the side on which it has room (`start`, `middle` or `end`).
Label = tuple[str, float, str]


@dataclass(frozen=True, slots=True)
class Histogram:
    """`bars`: (title, x, y, width, height). All places are in per cent of the chart's width and height, so
    that it can be stretched while its texts keep their size."""

    bars: list[tuple[str, float, float, float, float]]
    marks: list[Label]
    ticks: list[Label]
    top: int = _TOP
    bottom: int = _BOTTOM


def histogram(
    buckets: Sequence[Bucket],
    marks: Iterable[tuple[float, str]],
    ticks: Iterable[tuple[float, str]],
) -> Histogram:
    """Each bucket is equally wide: on buckets that are equally wide on a logarithmic scale, the axis is
    logarithmic. `marks` and `ticks` are values with their texts; ticks outside the buckets, or without room,
    are left out."""
    most = max((count for _, _, count, _ in buckets), default=0) or 1
    width = 100 / max(len(buckets), 1)
    bars = []
    for place, (_, _, count, title) in enumerate(buckets):
        height = (_BOTTOM - _TOP) * count / most
        x, y = round(width * (place + 0.08), 2), round(_BOTTOM - height, 2)
        bars.append((title, x, y, round(width * 0.84, 2), round(height, 2)))
    shown: list[Label] = []
    for value, text in ticks:
        x = _place(buckets, value)
        is_inside = buckets and buckets[0][0] <= value <= buckets[-1][1]
        if is_inside and (not shown or x - shown[-1][1] >= _TICK_GAP):
            # A label in the middle would be cut off at the ends.
            shown.append((text, x, "start" if x < 5 else "end" if x > 95 else "middle"))
    return Histogram(
        bars,
        [
            (text, x, "start" if x < 50 else "end")
            for x, text in ((_place(buckets, value), text) for value, text in marks)
        ],
        shown,
    )


def curve(
    values: Sequence[int | None], greatest: int
) -> tuple[list[tuple[float, float] | None], str]:
    """The place of each value, and the line through them, on the scale of the greatest value of several
    curves. The steps are equally wide, whatever lies between them; one without a value is left open."""
    scale = (BOTTOM - TOP) / (greatest or 1)
    points = [
        None if value is None else (STEP * (index + 0.5), round(BOTTOM - scale * value, 1))
        for index, value in enumerate(values)
    ]
    return points, " ".join(f"{point[0]:g},{point[1]:g}" for point in points if point)


def sparkline(values: Sequence[int]) -> str:
    """The points of a line through the values, one a column; 100 high."""
    top = max(values, default=0) or 1
    return " ".join(
        f"{place},{round(100 - 100 * value / top)}" for place, value in enumerate(values)
    )


def _place(buckets: Sequence[Bucket], value: float) -> float:
    """A value on the axis; at its end where it lies outside."""
    for index, (low, high, _, _) in enumerate(buckets):
        if value < high:
            share = (value - low) / (high - low)
            return round(100 * (index + max(share, 0.0)) / len(buckets), 2)
    return 100.0


def losses(rows: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """The part of a number that stays and the part that is lost, of each (kept, lost): the widths of two bars
    that stand beside each other. The longest bar is as wide as the chart."""
    widest = max((kept + lost for kept, lost in rows), default=0)
    return [(_share(kept, widest), _share(lost, widest)) for kept, lost in rows]


def funnel(counts: Sequence[int]) -> list[tuple[float, float]]:
    """The losses of the stages of a funnel: each loses what the stage before had more."""
    before = [counts[0], *counts]
    return losses(
        [(count, max(more - count, 0)) for count, more in zip(counts, before, strict=False)]
    )


def stack(values: Sequence[int]) -> list[tuple[int, float, float]]:
    """The segments of one bar, from left to right: (place of the value, x, width) of those above 0."""
    whole = sum(value for value in values if value > 0)
    segments, end = [], 0
    for place, value in enumerate(values):
        if value > 0:
            segments.append((place, round(100 * end / whole, 3), round(100 * value / whole, 3)))
            end += value
    return segments


def reaches(intervals: Sequence[tuple[float, Interval]]) -> list[tuple[float, float, float]]:
    """(low, middle, high) of each (value, its interval), on a line with the value 0 in the middle, at 50."""
    longest = max((abs(end) for _, one in intervals for end in (one.low, one.high)), default=0)

    def place(value: float) -> float:
        return round(50 + 50 * value / (longest or 1), 2)

    return [(place(one.low), place(value), place(one.high)) for value, one in intervals]


def _share(value: int, widest: int) -> float:
    return round(100 * value / (widest or 1), 2)

"""Bars on a common scale, as their places in per cent of a chart's width."""

from collections.abc import Sequence

from web.dashboard.statistics import Interval


def losses(rows: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """How much of a number stays and how much is lost, of each (kept, lost): the widths of two parts that
    stand beside each other. The longest bar is as wide as the chart."""
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

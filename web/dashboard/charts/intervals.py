"""The geometry of intervals around 0; `templates/dashboard/charts/intervals.html` draws them as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass

from web.dashboard.statistics import Interval


@dataclass(frozen=True, slots=True)
class Reach:
    """An interval and its middle on a line from 0 to 100 with the value 0 at 50."""

    low: float
    middle: float
    high: float


def reaches(intervals: Sequence[tuple[float, Interval]]) -> list[Reach]:
    """(value, its interval) of each line; all on one scale."""
    longest = max([abs(end) for _, one in intervals for end in (one.low, one.high)], default=0)

    def place(value: float) -> float:
        return round(50 + 50 * value / (longest or 1), 2)

    return [Reach(place(one.low), place(value), place(one.high)) for value, one in intervals]

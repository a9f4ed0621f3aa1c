"""The scale of a chart's height, and the days that are named below a chart of days."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil, floor
from typing import Final

# Gridlines between the lowest and the highest, at most and about.
_INTERVALS: Final = 4
# Days named below a chart, at most.
_NAMED_DAYS: Final = 6
# Days from one name to the next: days, weeks, then about months and years.
_STRIDES: Final = (1, 2, 3, 7, 14, 21, 28, 56, 91, 182, 364, 728)


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

    def y(self, value: int) -> float:
        """The height of a value, in per cent from the top."""
        if self.low == self.high:
            return 100.0
        return round(100 * (self.high - value) / (self.high - self.low), 2)


def scale(values: Iterable[int]) -> Scale:
    """A scale that has 0 and all of the values, with steps of 1, 2 or 5 times a power of ten."""
    low, high = 0, 0
    for value in values:
        low, high = min(low, value), max(high, value)
    step = _round_up((high - low) / _INTERVALS)
    return Scale(step * floor(low / step), step * ceil(high / step), step)


def _round_up(number: float) -> int:
    power = 1
    while power * 5 < number:
        power *= 10
    return next(step for step in (power, 2 * power, 5 * power) if step >= number)


def named_days(count: int) -> Iterator[int]:
    """The places, from 0, of the days that are named below a chart of `count` days."""
    fewest = ceil(count / _NAMED_DAYS)
    stride = next((stride for stride in _STRIDES if stride >= fewest), fewest)
    return iter(range(0, count, stride))

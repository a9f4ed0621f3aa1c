"""The geometry of a histogram over adjoining buckets, with marks and ticks on its axis.

All places are in per cent of the chart's width and height, so that it can be stretched while its texts keep
their size. Each bucket is equally wide: on buckets that are equally wide on a logarithmic scale, the axis
is logarithmic.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

# The bars stand between the rows of the marks' labels and the labels of the axis.
_TOP: Final = 24
_BOTTOM: Final = 88
# Between two ticks, so that their labels have room on a telephone.
_TICK_GAP: Final = 14


@dataclass(frozen=True, slots=True)
class HistogramBar:
    title: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Label:
    """A text at a place of the axis, on its side (`start`, `middle` or `end`) with room."""

    text: str
    x: float
    anchor: str


@dataclass(frozen=True, slots=True)
class HistogramBucket:
    """From `low` to `high`, excluded; `title` is shown to a pointer."""

    low: float
    high: float
    count: int
    title: str


@dataclass(frozen=True, slots=True)
class Histogram:
    bars: list[HistogramBar]
    marks: list[Label]
    ticks: list[Label]
    top: int = _TOP
    bottom: int = _BOTTOM


def histogram(
    buckets: Sequence[HistogramBucket],
    marks: Iterable[tuple[float, str]],
    ticks: Iterable[tuple[float, str]],
) -> Histogram:
    """`marks` and `ticks` are values with their texts; ticks outside the buckets, or without room, are left
    out."""
    most = max((bucket.count for bucket in buckets), default=0) or 1
    width = 100 / max(len(buckets), 1)
    bars = []
    for place, bucket in enumerate(buckets):
        height = (_BOTTOM - _TOP) * bucket.count / most
        bars.append(
            HistogramBar(
                bucket.title,
                round(width * (place + 0.08), 2),
                round(_BOTTOM - height, 2),
                round(width * 0.84, 2),
                round(height, 2),
            )
        )
    return Histogram(
        bars,
        [_mark(_place(buckets, value), text) for value, text in marks],
        _thinned((_place(buckets, value), text) for value, text in ticks if _has(buckets, value)),
    )


def _place(buckets: Sequence[HistogramBucket], value: float) -> float:
    """A value on the axis; at its end where it lies outside."""
    for index, bucket in enumerate(buckets):
        if value < bucket.high:
            share = (value - bucket.low) / (bucket.high - bucket.low)
            return round(100 * (index + max(share, 0.0)) / len(buckets), 2)
    return 100.0


def _has(buckets: Sequence[HistogramBucket], value: float) -> bool:
    return bool(buckets) and buckets[0].low <= value <= buckets[-1].high


def _mark(x: float, text: str) -> Label:
    return Label(text, x, "start" if x < 50 else "end")


def _thinned(ticks: Iterable[tuple[float, str]]) -> list[Label]:
    shown: list[Label] = []
    for x, text in ticks:
        if not shown or x - shown[-1].x >= _TICK_GAP:
            # A label in the middle would be cut off at the ends.
            anchor = "start" if x < 5 else "end" if x > 95 else "middle"
            shown.append(Label(text, x, anchor))
    return shown

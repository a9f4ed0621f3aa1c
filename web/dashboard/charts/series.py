"""Lines over days, as `templates/dashboard/charts/series.html` and `static/dashboard.js` draw them.

The plot is 100 high and one wide for each day: it is stretched to the width of its place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from warehouse.domain.currencies import DECIMALS
from web.dashboard import formatting
from web.dashboard.charts.axes import Axes, axes
from web.dashboard.charts.scale import Scale, scale

# The least distance between the names of two lines, in per cent of the height.
_NAME_HEIGHT: Final = 10


@dataclass(frozen=True, slots=True)
class SeriesLine:
    """`points` are those of an SVG polyline. `name_y` is the height of the line's name, at its end."""

    name: str
    points: str
    name_y: float


@dataclass(frozen=True, slots=True)
class Series:
    """`data` is what the script needs to draw the same lines and to say the value of each day."""

    width: int
    lines: list[SeriesLine]
    axes: Axes
    data: dict[str, Any]


def series(days: Sequence[date], values: Mapping[str, Sequence[int]], currency: str = "") -> Series:
    """The values of each line by its name, one a day. With a currency, they are its minor units."""
    span = scale(value for line in values.values() for value in line)
    heights = _apart({name: span.y(line[-1]) for name, line in values.items()})
    return Series(
        width=len(days),
        lines=[
            SeriesLine(name, _points(line, span), heights[name]) for name, line in values.items()
        ],
        axes=axes(days, span, currency),
        data={
            "locale": formatting.language_tag(),
            "currency": currency,
            "decimals": DECIMALS.get(currency, 2) if currency else 0,
            "first": f"{days[0]}",
            "low": span.low,
            "high": span.high,
            "lines": [{"name": name, "values": list(line)} for name, line in values.items()],
        },
    )


def _points(values: Sequence[int], span: Scale) -> str:
    points = [f"{place + 0.5},{span.y(value):g}" for place, value in enumerate(values)]
    # A line of one point has no length: drawn twice, it is a dot.
    return " ".join(points if len(points) > 1 else points * 2)


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

"""Parts of a whole by day, as `templates/dashboard/charts/stacked_days.html` draws them.

Parts above 0 stand on each other, parts below 0 hang below the line of 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from web.dashboard import formatting
from web.dashboard.charts.axes import Axes, axes
from web.dashboard.charts.scale import Scale, scale

# A share of the width of a day.
_BAR: Final = 0.8


@dataclass(frozen=True, slots=True)
class DayPart:
    """In per cent of the chart; `part` chooses its pattern."""

    part: int
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class DayStack:
    """The bars of a day, with the text that a pointer shows. `left` and `bar_left` in per cent."""

    title: str
    left: float
    bar_left: float
    bars: list[DayPart]


@dataclass(frozen=True, slots=True)
class StackedDays:
    """Widths in per cent."""

    names: Sequence[str]
    days: list[DayStack]
    day_width: float
    bar_width: float
    axes: Axes


def stacked_days(
    days: Sequence[date], names: Sequence[str], amounts: Sequence[Sequence[int]], currency: str
) -> StackedDays:
    """The amounts of each day in minor units, one for each name, from the line of 0 outwards."""
    span = scale(
        end
        for parts in amounts
        for end in (sum(max(part, 0) for part in parts), sum(min(part, 0) for part in parts))
    )
    width = 100 / len(days)
    return StackedDays(
        names=names,
        days=[
            DayStack(
                title=_title(day, names, parts, currency),
                left=round(place * width, 2),
                bar_left=round((place + (1 - _BAR) / 2) * width, 2),
                bars=_bars(parts, span),
            )
            for place, (day, parts) in enumerate(zip(days, amounts, strict=True))
        ],
        day_width=round(width, 2),
        bar_width=round(_BAR * width, 2),
        axes=axes(days, span, currency),
    )


def _title(day: date, names: Sequence[str], parts: Sequence[int], currency: str) -> str:
    said = [
        f"{name} {formatting.money(part, currency, exact=True)}"
        for name, part in zip(names, parts, strict=True)
        if part
    ]
    return f"{formatting.day(day)}: {', '.join(said) or formatting.money(0, currency, exact=True)}"


def _bars(parts: Sequence[int], span: Scale) -> list[DayPart]:
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
        bars.append(DayPart(part, top, round(foot - top, 2)))
    return bars

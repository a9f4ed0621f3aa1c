"""The geometry of columns and lines; `templates/dashboard/charts/basic.html` draws it as SVG.

A chart is 100 high and one wide for each column: it is stretched to the width of its place.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

HEIGHT: Final = 100


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle; `part` chooses its colour."""

    part: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Column:
    """The bars of one place on the x axis, with the text that a pointer shows."""

    title: str
    bars: list[Rectangle]


def columns(values: Iterable[tuple[str, Sequence[int]]]) -> list[Column]:
    """(title, parts from the bottom up) of each column. Parts below 0 are not drawn."""
    rows = list(values)
    top = max([sum(filter(_is_positive, parts)) for _, parts in rows], default=0) or 1
    drawn = []
    for place, (title, parts) in enumerate(rows):
        bars, below = [], 0
        for part, value in enumerate(parts):
            if value > 0:
                below += value
                bars.append(
                    Rectangle(
                        part, place + 0.1, _y(below, top), 0.8, round(HEIGHT * value / top, 2)
                    )
                )
        drawn.append(Column(title, bars))
    return drawn


def line(values: Sequence[int]) -> str:
    """The points of a line through the values, one a column."""
    top = max(values, default=0) or 1
    return " ".join(f"{place},{_y(value, top):g}" for place, value in enumerate(values))


def _is_positive(value: int) -> bool:
    return value > 0


def _y(value: int, top: int) -> float:
    return round(HEIGHT - HEIGHT * value / top, 2)

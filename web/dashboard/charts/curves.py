"""The geometry of a curve over a few named steps; `templates/dashboard/charts/curves.html` draws it as SVG.

The steps are equally wide, whatever lies between them. A step without a value is left open.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

STEP: Final = 60
"""The width of a step."""
TOP: Final = 22
"""The greatest value; the text of a value stands above it."""
BOTTOM: Final = 130
"""The line of 0; the names of the steps stand below it."""


@dataclass(frozen=True, slots=True)
class Curve:
    """The place of each value, None where there is none, and the line through those that follow each
    other from the first on."""

    points: list[tuple[float, float] | None]
    line: str


def curve(values: Sequence[int | None], greatest: int) -> Curve:
    """A curve on the scale of the greatest value of several of them."""
    scale = (BOTTOM - TOP) / (greatest or 1)
    points = [
        None if value is None else (STEP * (index + 0.5), round(BOTTOM - scale * value, 1))
        for index, value in enumerate(values)
    ]
    return Curve(points, " ".join(f"{point[0]:g},{point[1]:g}" for point in points if point))

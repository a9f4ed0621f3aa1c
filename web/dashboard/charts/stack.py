"""The geometry of one bar made of parts; `templates/dashboard/charts/stack.html` draws it as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StackPart:
    """A part of the bar, in per cent of its length. `part` chooses its colour."""

    part: int
    x: float
    width: float


def stack(values: Sequence[int]) -> list[StackPart]:
    """The segments of the values above 0, from left to right."""
    whole = sum(value for value in values if value > 0)
    segments, end = [], 0
    for part, value in enumerate(values):
        if value > 0:
            segments.append(
                StackPart(part, round(100 * end / whole, 3), round(100 * value / whole, 3))
            )
            end += value
    return segments

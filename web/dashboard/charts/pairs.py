"""The geometry of pairs of bars on one scale; `templates/dashboard/charts/pairs.html` draws them as SVG.

A bar is as long as its share of the greatest value, in per cent: it is stretched to the width of its place.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    """The lengths of two bars, 0 to 100. None where there is no value to draw."""

    first: float | None
    second: float | None


def pairs(values: Sequence[tuple[int | None, int | None]]) -> list[Pair]:
    """The bars of pairs of values, all in one unit. A value below 0 has no length."""
    top = max((value for pair in values for value in pair if value is not None), default=0)
    return [Pair(_length(first, top), _length(second, top)) for first, second in values]


def _length(value: int | None, top: int) -> float | None:
    if value is None:
        return None
    return round(100 * value / top, 2) if value > 0 else 0.0

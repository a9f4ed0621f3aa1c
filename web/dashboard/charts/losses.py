"""The geometry of bars that show how much of a number stays and how much is lost.

Below each other they are a funnel, or the waterfall of the steps of a form.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LossBar:
    """In per cent of the chart's width: `kept` from the left, and `lost` beside it."""

    kept: float
    lost: float


def losses(rows: Sequence[tuple[int, int]]) -> list[LossBar]:
    """(kept, lost) of each bar, on one scale: the longest bar is as wide as the chart."""
    widest = max((kept + lost for kept, lost in rows), default=0) or 1
    return [
        LossBar(round(100 * kept / widest, 2), round(100 * lost / widest, 2)) for kept, lost in rows
    ]


def funnel(counts: Sequence[int]) -> list[LossBar]:
    """The bars of the stages of a funnel: each loses what the stage before had more."""
    before = [counts[0], *counts]
    return losses(
        [(count, max(more - count, 0)) for count, more in zip(counts, before, strict=False)]
    )

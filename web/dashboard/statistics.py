"""How far chance alone can move a rate: intervals of 95 %.

- A rate: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of
  the American Statistical Association 22 (1927), the score interval without continuity correction.
- The difference of two rates: R. G. Newcombe, "Interval estimation for the difference between independent
  proportions: comparison of eleven methods", Statistics in Medicine 17 (1998), method 10, which is made of
  two of Wilson's intervals.
"""

from dataclasses import dataclass
from math import hypot, sqrt
from typing import Final

Z: Final = 1.959963984540054
"""The quantile of the standard normal distribution at 97.5 %."""

FEW: Final = 30
"""A sample below it is too small for a rate to mean much."""


@dataclass(frozen=True, slots=True)
class Interval:
    """From `low` to `high`, as shares (0 to 1; differences from -1 to 1)."""

    low: float
    high: float

    @property
    def has_zero(self) -> bool:
        return self.low <= 0 <= self.high


def of_rate(hits: int, trials: int) -> Interval:
    """Wilson's interval of `hits` out of `trials`; 0 to 1 where there are no trials.

    A submission of these days can have its view on the day before them: more hits than trials count as
    all of them.
    """
    if not trials:
        return Interval(0.0, 1.0)
    share, z2 = min(hits / trials, 1.0), Z * Z
    middle = share + z2 / (2 * trials)
    reach = Z * sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials))
    scale = 1 + z2 / trials
    return Interval(max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale))


def of_difference(hits: int, trials: int, other_hits: int, other_trials: int) -> Interval:
    """Newcombe's interval of the first rate less the other one; -1 to 1 where one has no trials."""
    if not trials or not other_trials:
        return Interval(-1.0, 1.0)
    one, other = min(hits / trials, 1.0), min(other_hits / other_trials, 1.0)
    ours, theirs = of_rate(hits, trials), of_rate(other_hits, other_trials)
    difference = one - other
    return Interval(
        difference - hypot(one - ours.low, theirs.high - other),
        difference + hypot(ours.high - one, other - theirs.low),
    )

"""How far chance alone can move a rate: intervals of 95 %, and tests of many rates at once.

- A rate: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of
  the American Statistical Association 22 (1927), the score interval without continuity correction.
- The difference of two rates: R. G. Newcombe, "Interval estimation for the difference between independent
  proportions: comparison of eleven methods", Statistics in Medicine 17 (1998), method 10, which is made of
  two of Wilson's intervals.
- Whether a rate is greater: Fisher's exact test with the mid-p-value of H. O. Lancaster, "Significance tests
  in discrete distributions", Journal of the American Statistical Association 56 (1961), as recommended by
  S. Lydersen, M. W. Fagerland and P. Laake, "Recommended tests for association in 2x2 tables", Statistics
  in Medicine 28 (2009).
- Many rates: Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal
  Statistical Society B 57 (1995).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, hypot, lgamma, sqrt
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


def p_greater(hits: int, trials: int, other_hits: int, other_trials: int) -> float:
    """The one-sided p-value that the first rate is greater than the other one; 1 if one has no trials.

    Given the hits of both together, those of the first have a hypergeometric distribution. The p-value is
    its tail beyond the observed number, and half of the probability of that number. A test by the normal
    distribution is no substitute: at 0.5 %, it calls 3.6 % of equal rates of 1 % greater where 30 trials
    stand beside 20,000.
    """
    if not trials or not other_trials:
        return 1.0
    hits, other_hits = min(hits, trials), min(other_hits, other_trials)
    if hits * other_trials < other_hits * trials:
        return 1 - p_greater(other_hits, other_trials, hits, trials)
    both_hits, other_misses = hits + other_hits, other_trials - other_hits
    probability = exp(
        _log_ways(trials, hits)
        + _log_ways(other_trials, other_hits)
        - _log_ways(trials + other_trials, both_hits)
    )
    # From the greater rate on each probability is below the one before it, soon so far that it adds nothing.
    tail = probability / 2
    for more in range(min(trials - hits, other_hits)):
        probability *= (trials - hits - more) * (other_hits - more)
        probability /= (hits + more + 1) * (other_misses + more + 1)
        if tail + probability == tail:
            break
        tail += probability
    return tail


def benjamini_hochberg(p_values: Sequence[float], level: float = 0.05) -> list[bool]:
    """Which of the p-values to believe, in their order, so that on average at most this share of what is
    believed is chance. Where all is chance, any is believed with at most this probability."""
    believed, most = 0, len(p_values)
    for rank, p_value in enumerate(sorted(p_values), 1):
        if p_value <= level * rank / most:
            believed = rank
    return [p_value <= level * believed / most for p_value in p_values]


def _log_ways(trials: int, hits: int) -> float:
    """The logarithm of the binomial coefficient."""
    return lgamma(trials + 1) - lgamma(hits + 1) - lgamma(trials - hits + 1)

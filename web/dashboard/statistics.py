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
- Counts and money: Student's t, with the residuals of daily values around the mean of their weekday. Its tail
  is the regularized incomplete beta function, by the continued fraction of W. H. Press and others, "Numerical
  Recipes" (2007), section 6.4.
- Many changes: Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal
  Statistical Society B 57 (1995).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, hypot, lgamma, log, sqrt
from typing import Final

Z: Final = 1.959963984540054
"""The quantile of the standard normal distribution at 97.5 %."""

FEW: Final = 30
"""A sample below it is too small for a rate to mean much."""


NOISE_DAYS: Final = 56
"""The days before the end of a range from which the noise of its daily values is taken."""

FEWEST_DAYS: Final = 21
"""Fewer days say nothing about noise."""

_WEEK: Final = 7


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


def p_different(hits: int, trials: int, other_hits: int, other_trials: int) -> float:
    """The two-sided p-value that two rates are different; 1 if one has no trials."""
    greater = p_greater(hits, trials, other_hits, other_trials)
    return min(1.0, 2 * min(greater, 1 - greater))


@dataclass(frozen=True, slots=True)
class Noise:
    """The amount by which a daily value moves by itself: the mean of each weekday (day number modulo 7), the
    standard deviation of the residuals around them, and their degrees of freedom."""

    usual: tuple[float, ...]
    deviation: float
    freedom: int

    def of_days(self, first: int, days: int) -> float:
        """The usual sum of so many days from the day number `first` on."""
        weeks, rest = divmod(days, _WEEK)
        usual = weeks * sum(self.usual)
        return usual + sum(self.usual[(first + day) % _WEEK] for day in range(rest))

    def usual_day(self, day: int, *, is_count: bool = False) -> tuple[float, float]:
        """The band in which 19 of 20 days lie, of those on its weekday: from, to."""
        usual, variance = self.usual[day % _WEEK], self.deviation**2
        reach = Z * sqrt(max(variance, usual) if is_count else variance)
        return max(usual - reach, 0.0), usual + reach


def noise_of(first: int, values: Sequence[float]) -> Noise | None:
    """The noise of daily values from the day number `first` on; None where they are too few."""
    if len(values) < FEWEST_DAYS:
        return None
    by_weekday: list[list[float]] = [[] for _ in range(_WEEK)]
    for place, value in enumerate(values):
        by_weekday[(first + place) % _WEEK].append(value)
    usual = tuple(sum(each) / len(each) for each in by_weekday)
    squares = sum(
        (value - usual[(first + place) % _WEEK]) ** 2 for place, value in enumerate(values)
    )
    freedom = len(values) - _WEEK
    return Noise(usual, sqrt(squares / freedom), freedom)


def p_changed(
    noise: Noise,
    now: float,
    before: float,
    first: int,
    first_before: int,
    days: int,
    *,
    is_count: bool = False,
    scale: float = 1.0,
) -> float | None:
    """The two-sided p-value that the sum `now` of so many days from `first` on differs from `scale` times the
    sum `before` of as many. None where nothing can be said.

    Days are compared with what is usual on their weekdays: 30 days can have a Sunday more than the 30 before.
    The noise of counts is at least Poisson's: 56 days without an order do not make the next one a sensation.
    """
    weekdays = noise.of_days(first, days) - noise.of_days(first_before, days)
    difference = now - scale * (before + weekdays)
    variance = noise.deviation**2
    if is_count:
        variance = max(variance, (now + before) / (2 * days))
    if not variance:
        return None
    return student_p(difference / sqrt(variance * days * (1 + scale**2)), noise.freedom)


def student_p(t: float, freedom: int) -> float:
    """The two-sided p-value of Student's t."""
    return _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


@lru_cache(maxsize=1024)
def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function of 0 <= x <= 1."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        # The fraction converges fast on the other side.
        return 1 - _incomplete_beta(b, a, 1 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x)) / a
    # Lentz's method.
    fraction, above, below = 1.0, 1.0, 0.0
    for step in range(200):
        half = step // 2
        if step == 0:
            term = 1.0
        elif step % 2:
            term = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        else:
            term = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        below = 1 / (1 + term * below)
        above = 1 + term / above
        fraction *= above * below
        if abs(above * below - 1) < 1e-12:
            break
    return front * (fraction - 1)


def benjamini_hochberg(p_values: Sequence[float], level: float = 0.05) -> list[bool]:
    """Tell for each p-value, in their order, whether to believe it, so that on average at most this share of
    what is believed is chance. Where all is chance, any is believed with at most this probability."""
    believed, most = 0, len(p_values)
    for rank, p_value in enumerate(sorted(p_values), 1):
        if p_value <= level * rank / most:
            believed = rank
    return [p_value <= level * believed / most for p_value in p_values]


def _log_ways(trials: int, hits: int) -> float:
    """The logarithm of the binomial coefficient."""
    return lgamma(trials + 1) - lgamma(hits + 1) - lgamma(trials - hits + 1)

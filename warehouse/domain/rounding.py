"""Division and rounding: half-up (away from zero), exact, and 0 if the divisor is 0.

All calculations use whole numbers or exact fractions. The resulting float is the one nearest to the rounded
decimal, so it prints as that decimal.
"""

from decimal import Decimal
from fractions import Fraction
from math import isqrt

Exact = int | Decimal | Fraction


def percent(numerator: int, denominator: int) -> float:
    """numerator / denominator x 100, to 2 decimals."""
    return _half_up(numerator * 10_000, denominator) / 100


def cents(numerator: int, denominator: int) -> int:
    """numerator / denominator as a whole number."""
    return _half_up(numerator, denominator)


def ratio(numerator: Exact, denominator: Exact, digits: int) -> float:
    """numerator / denominator, rounded to `digits` decimals."""
    if not denominator:
        return 0.0
    above, below = numerator.as_integer_ratio()
    multiplied, divided = denominator.as_integer_ratio()
    scale = int(10**digits)
    return _half_up(above * divided * scale, below * multiplied) / scale


def root(square: Fraction, digits: int) -> float:
    """The square root of a fraction, rounded to `digits` decimals.

    The rounded root is n / 10^digits for the greatest n with (n - 1/2)^2 <= square x 10^(2 digits). Whole
    numbers decide that exactly: (2n - 1)^2 <= 4 x square x 10^(2 digits).
    """
    scale = int(10**digits)
    doubled = isqrt(4 * square.numerator * scale * scale // square.denominator)
    return (doubled + 1) // 2 / scale


def _half_up(numerator: int, denominator: int) -> int:
    if not denominator:
        return 0
    if denominator < 0:
        numerator, denominator = -numerator, -denominator
    if numerator < 0:
        return -((denominator - 2 * numerator) // (2 * denominator))
    return (2 * numerator + denominator) // (2 * denominator)

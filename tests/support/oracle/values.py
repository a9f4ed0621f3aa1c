"""Rates, rounding and money: contract section 1, "A rate is ..." and "Money is ..."."""

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from typing import Any

# ISO 4217: currencies whose minor unit is not a hundredth.
EXPONENTS = {
    **dict.fromkeys(("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG"), 0),
    **dict.fromkeys(("RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF"), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
}


def half_up(value: Fraction | int, places: int) -> Fraction:
    """`value` rounded half-up (away from zero) to so many decimals, exactly."""
    scaled = abs(Fraction(value)) * 10**places
    whole = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    return Fraction(whole if value >= 0 else -whole, 10**places)


def divide(numerator: Fraction | int, denominator: Fraction | int, places: int) -> float:
    """A quotient to so many decimals; "every other division by 0 gives 0 too"."""
    if denominator == 0:
        return 0.0
    return float(half_up(Fraction(numerator) / Fraction(denominator), places))


def rate(numerator: int, denominator: int) -> float:
    """Section 1: numerator / denominator x 100, half-up to 2 decimals, 0 where it is undefined."""
    return divide(100 * numerator, denominator, 2)


def cents(numerator: int, denominator: int) -> int:
    """Section 4 (19): "Divisions to cents round half-up"."""
    return int(divide(numerator, denominator, 0))


def square_root(value: Fraction, places: int) -> float:
    """The root of an exact fraction, half-up to so many decimals."""
    with localcontext() as context:
        context.prec = 60
        root = (Decimal(value.numerator) / Decimal(value.denominator)).sqrt()
        # The last digits are the division's own noise, and must not decide a tie.
        root = root.quantize(Decimal(1).scaleb(-40), rounding=ROUND_HALF_UP)
        return float(root.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP))


def major(minor: int, currency: str) -> Fraction:
    """Minor units in major ones, by the currency's own exponent (JPY 0, KWD 3)."""
    return Fraction(minor, 10 ** EXPONENTS.get(currency, 2))


def money(orders: Iterable[Any]) -> dict[str, int]:
    """Section 1, "order": how many, gross, refunded and net of them."""
    orders = list(orders)
    gross = sum(order.gross for order in orders)
    refunded = sum(order.refunded for order in orders)
    return {
        "orders": len(orders),
        "grossRevenueCents": gross,
        "totalRefundedCents": refunded,
        "netRevenueCents": gross - refunded,
    }

"""Amounts of money as systems write them, as whole minor units: exactly, without binary floats."""

from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any, Final

from jobs.importing.cells import currency, decimal
from warehouse.currencies import DECIMALS

_HALF: Final = Fraction(1, 2)


def minor_units(amount: Any, code: Any, rate: Fraction | None = None) -> tuple[int, bool]:
    """An amount in major units (a text, or a number) in minor units of a currency, and whether it
    had to be rounded, since it has more decimals than the currency: halves go away from zero.

    `rate`: how much of the currency is one unit of what the amount is in. Raises Malformed where the
    amount is no number, or the currency none of ISO 4217.
    """
    places = _places(code)
    written = decimal(amount)
    if rate is not None:
        return _rounded(Fraction(written) * rate * 10**places)
    whole, _, fraction = written.removeprefix("-").partition(".")
    number = int(whole + fraction[:places].ljust(places, "0"))
    rest = fraction[places:]
    if rest >= "5":
        number += 1
    return -number if written.startswith("-") else number, bool(rest)


def _places(code: Any) -> int:
    # Nearly all are written as they are known; a list or an object is no key.
    known = DECIMALS.get(code) if isinstance(code, str) else None
    return DECIMALS[currency(code)] if known is None else known


def _rounded(exact: Fraction) -> tuple[int, bool]:
    number = floor(abs(exact) + _HALF)
    return -number if exact < 0 else number, exact.denominator != 1


def of_millionths(amount: Any) -> str:
    """An amount in millionths of a major unit (`1230000`) in major units (`1.230000`).

    Raises Malformed where it is no number.
    """
    return format(Decimal(decimal(amount)).scaleb(-6), "f")

"""Amounts of money as systems write them, as whole minor units: exactly, without binary floats."""

from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any, Final

from jobs.importing.values.numbers import decimal
from jobs.importing.values.texts import currency
from warehouse.domain.vocabulary import DECIMALS

_HALF: Final = Fraction(1, 2)


def minor_units(amount: Any, code: Any, rate: Fraction | None = None) -> tuple[int, bool]:
    """(minor units, whether they were rounded) of an amount in major units, a text or a number. An amount
    with more decimals than the currency is rounded, halves away from zero.

    `rate`: how much of the currency one unit of the amount's own currency is. Raises InvalidValue if the
    amount is no number, or the currency is not in ISO 4217.
    """
    # The look-up spares nearly all codes the check.
    places = DECIMALS.get(code) if isinstance(code, str) else None
    places = DECIMALS[currency(code)] if places is None else places
    written = decimal(amount)
    if rate is not None:
        exact = Fraction(written) * rate * 10**places
        number = floor(abs(exact) + _HALF)
        return -number if exact < 0 else number, exact.denominator != 1
    whole, _, fraction = written.removeprefix("-").partition(".")
    number = int(whole + fraction[:places].ljust(places, "0"))
    rest = fraction[places:]
    if rest >= "5":
        number += 1
    return -number if written.startswith("-") else number, bool(rest)


def of_millionths(amount: Any) -> str:
    """An amount in millionths of a major unit (`1230000`) in major units (`1.230000`).

    Raises InvalidValue if it is no number.
    """
    return format(Decimal(decimal(amount)).scaleb(-6), "f")

"""Amounts of money as systems write them, as whole minor units: exactly, without binary floats."""

from decimal import Decimal
from typing import Any

from jobs.importing.cells import currency, decimal
from warehouse.currencies import DECIMALS


def minor_units(amount: Any, code: Any) -> tuple[int, bool]:
    """An amount in major units (a text, or a number) in minor units of its currency, and whether it
    had more decimals than the currency has: then it is rounded, halves away from zero.

    Raises Malformed where it is no number, or the currency is none of ISO 4217.
    """
    places = DECIMALS[currency(code)]
    written = decimal(amount)
    whole, _, fraction = written.removeprefix("-").partition(".")
    number = int(whole + fraction[:places].ljust(places, "0"))
    rest = fraction[places:]
    if rest >= "5":
        number += 1
    return -number if written.startswith("-") else number, bool(rest)


def of_millionths(amount: Any) -> str:
    """An amount in millionths of a major unit (`1230000`) in major units (`1.230000`).

    Raises Malformed where it is no number.
    """
    return format(Decimal(decimal(amount)).scaleb(-6), "f")

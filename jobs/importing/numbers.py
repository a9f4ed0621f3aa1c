"""Numbers as producers write them: 3, 3.0, and in text files "3"; and as the texts that they mean."""

import re
from decimal import Decimal
from typing import Any, Final

MOST: Final = 2**63 - 1
BEYOND: Final = "beyond 64 bits"
_NOT_A_NUMBER: Final = "not a number"
_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d*)?(e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)
# From this many zeros after the point on, JSON writes a number with an exponent.
_ZEROS: Final = 6


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def whole_number(value: Any, *, textual: bool) -> tuple[int, str]:
    """The number, and "" or why it is none. `textual`: a text that holds a number counts as one."""
    if isinstance(value, str) and textual:
        text = value.strip()
        if not _NUMBER.fullmatch(text):
            return 0, _NOT_A_NUMBER
        value = Decimal(text)
    if not is_number(value):
        return 0, _NOT_A_NUMBER
    number, reason = _exact(value)
    if reason:
        return 0, reason
    if number != number.to_integral_value():
        return 0, "not a whole number"
    if number < 0:
        return 0, "negative"
    return int(number), ""


def number_text(value: int | float | Decimal, *, whole: bool = False) -> tuple[str, str]:
    """A number as JSON writes it (`3`, `1.5`, `1e-7`, never `3.0` or `-0`), and "" or why it has no
    such text. Every digit counts: a Decimal is not brought into a float. `whole`: it must be a whole
    number.

    The form is that of ECMA-262, Number::toString.
    """
    if value.__class__ is int and -MOST <= value <= MOST:
        return str(value), ""
    number, reason = _exact(value)
    if reason:
        return "", reason
    if not number:
        return "0", ""
    if whole and number != number.to_integral_value():
        return "", "not a whole number"
    sign = "-" if number < 0 else ""
    if number.adjusted() >= -_ZEROS:
        plain = format(abs(number), "f")
        return sign + (plain.rstrip("0").rstrip(".") if "." in plain else plain), ""
    digits = "".join(map(str, number.as_tuple().digits)).strip("0")
    point = "." if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{point}{digits[1:]}e{number.adjusted()}", ""


def _exact(value: int | float | Decimal) -> tuple[Decimal, str]:
    """The number, and "" or why it is none that 64 bits hold. A float is the shortest decimal that
    means it."""
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not number.is_finite():
        return number, _NOT_A_NUMBER
    if number and (number.adjusted() > 18 or not -MOST - 1 <= number < MOST + 1):
        return number, BEYOND
    return number, ""

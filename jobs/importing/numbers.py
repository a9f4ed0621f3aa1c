"""Whole numbers as producers write them: 3, 3.0, and in text files "3"."""

import re
from decimal import Decimal, InvalidOperation
from typing import Any, Final

MOST: Final = 2**63 - 1
_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d*)?(e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)


def whole_number(value: Any, *, textual: bool) -> tuple[int, str]:
    """The number, and "" or why it is none. `textual`: a text that holds a number counts as one."""
    if isinstance(value, str) and textual:
        text = value.strip()
        if not _NUMBER.fullmatch(text):
            return 0, "not a number"
        value = Decimal(text)
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return 0, "not a number"
    try:
        number = int(value)
    except (InvalidOperation, OverflowError, ValueError):  # NaN, infinity
        return 0, "not a number"
    if number != value:
        return 0, "not a whole number"
    if number < 0:
        return 0, "negative"
    if number > MOST:
        return 0, "beyond 64 bits"
    return number, ""

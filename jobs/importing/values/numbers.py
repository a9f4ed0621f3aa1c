"""Numbers, exactly: those of JSON and Parquet, and those written as text."""

import re
from collections.abc import Iterable
from decimal import Decimal, localcontext
from typing import Any, Final

from jobs.importing.values.errors import InvalidValue, TooLarge, quoted

LIMIT: Final = 2**63
# More decimals than any platform or bank states, and few enough for exact sums.
MAX_DECIMALS: Final = 30
# More digits than a sum of numbers can have that 64 bits and these decimals hold.
_SUM_DIGITS: Final = 100

_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,4})?", re.ASCII | re.IGNORECASE)
# Numbers written like this need no Decimal.
_FEW_DIGITS: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
_PLAIN: Final = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,30})?", re.ASCII)
# ECMA-262 writes a number with an exponent from this many zeros after the point on.
_PLAIN_ZEROS: Final = 6


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def exact(value: Any) -> Decimal:
    """A number, or a text that is one, with every digit; a float is the shortest decimal that means
    it. Raises InvalidValue if it is no number or 64 bits cannot hold it."""
    if isinstance(value, str):
        written = value.strip()
        if not _NUMBER.fullmatch(written):
            has_comma = _NUMBER.fullmatch(written.replace(",", "."))
            hint = "; write a decimal point, not a comma" if has_comma else ""
            raise InvalidValue(f"{quoted(value)} is not a number{hint}")
    elif is_number(value):
        written = repr(value) if isinstance(value, float) else value
    else:
        raise InvalidValue(f"{quoted(value)} is not a number")
    number = Decimal(written)
    if number.is_nan():
        raise InvalidValue(f"{quoted(value)} is not a number")
    if number and (number.adjusted() > 18 or not -LIMIT <= number < LIMIT):
        raise TooLarge(f"{quoted(value)} is beyond 64 bits")
    return number


def whole_number(value: Any) -> int:
    """A whole number from 0 to 2^63 - 1; a text that is one counts. Raises InvalidValue."""
    if value.__class__ is int and 0 <= value < LIMIT:
        return int(value)
    if value.__class__ is str and _FEW_DIGITS.fullmatch(value):
        return int(value)
    number = exact(value)
    if number != number.to_integral_value():
        raise InvalidValue(f"{quoted(value)} is not a whole number")
    if number < 0:
        raise InvalidValue(f"{quoted(value)} is negative")
    return int(number)


def json_whole_number(value: Any) -> int:
    """A whole number of a JSON value, in which a text is no number. Raises InvalidValue."""
    if isinstance(value, str):
        raise InvalidValue(f"{quoted(value)} is a text, not a number; write it without quotes")
    return whole_number(value)


def decimal(value: Any) -> str:
    """A number as its one exact spelling: no exponent, no needless zeros. Raises InvalidValue."""
    written = repr(value) if isinstance(value, float) else str(value)
    if isinstance(value, bool) or not _PLAIN.fullmatch(written):
        number = exact(value)
        # Checked before it is written out: 1e-9999 has ten thousand characters.
        _check_decimals(value, -number.adjusted() if number else 0)
        written = format(number, "f") if number else "0"
    if "." in written:
        written = written.rstrip("0").rstrip(".")
        _check_decimals(value, len(written.partition(".")[2]))
    return "0" if written == "-0" else written


def exact_sum(values: Iterable[Any]) -> str:
    """The sum of numbers in the spelling of `decimal`, with every digit. Raises InvalidValue."""
    numbers = [Decimal(decimal(value)) for value in values]
    with localcontext(prec=_SUM_DIGITS):
        return decimal(sum(numbers))


def _check_decimals(value: Any, decimals: int) -> None:
    if decimals > MAX_DECIMALS:
        raise InvalidValue(f"{quoted(value)} has more than {MAX_DECIMALS} decimals")


def positive(value: Any) -> str:
    """A decimal greater than 0. Raises InvalidValue."""
    written = decimal(value)
    if written == "0" or written.startswith("-"):
        raise InvalidValue(f"{quoted(value)} is not greater than 0")
    return written


def number_text(value: int | float | Decimal, *, whole: bool = False) -> str:
    """A number as JSON writes it (`3`, `1.5`, `1e-7`, never `3.0` or `-0`), with every digit. The form is
    that of ECMA-262, Number::toString. `whole`: the number must be a whole one. Raises InvalidValue."""
    if value.__class__ is int and -LIMIT <= value < LIMIT:
        return str(value)
    number = exact(value)
    if not number:
        return "0"
    if whole and number != number.to_integral_value():
        raise InvalidValue(f"{quoted(value)} is not a whole number")
    sign = "-" if number < 0 else ""
    if number.adjusted() >= -_PLAIN_ZEROS:
        plain = format(abs(number), "f")
        return sign + (plain.rstrip("0").rstrip(".") if "." in plain else plain)
    digits = "".join(map(str, number.as_tuple().digits)).strip("0")
    point = "." if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{point}{digits[1:]}e{number.adjusted()}"

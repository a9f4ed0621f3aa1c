"""One cell of a row, whatever its file's format, as the value that is stored.

A cell is what JSON, CSV or Parquet hold: text, number, truth value, date or time, list, object. Each
function here takes one that is not missing (null or an empty text), and raises `Malformed` with the
cause where it cannot be taken.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any, Final
from zoneinfo import available_timezones

import msgspec

from jobs.importing import times
from jobs.importing.numbers import is_number, number_text
from warehouse.currencies import DECIMALS
from warehouse.days import LATEST, day_number

Value = int | str
Read = Callable[[Any], Value]

LONGEST_ID: Final = 255
LONGEST_NAME: Final = 1_000
# More than any platform or bank states, and few enough for exact sums.
MOST_DECIMALS: Final = 30
_LIMIT: Final = 2**63

_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,4})?", re.ASCII | re.IGNORECASE)
# What nearly all numbers look like, so that they need not become objects.
_PLAIN: Final = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,30})?")
_FEW_DIGITS: Final = re.compile(r"[0-9]{1,18}")
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_CODE: Final = re.compile(r"[A-Z]{3}")
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
# Names of a machine's own settings lie among its time zones.
_ZONES: Final = available_timezones() - {"Factory", "localtime", "posixrules"}


class Malformed(ValueError):
    """A cell that cannot be taken; the message is the cause, without the field's name."""


def text(cell: Any) -> str:
    """A text; a number counts as the text that JSON writes, since many ids are numbers."""
    if isinstance(cell, str):
        if "\0" in cell:
            raise Malformed("has a NUL character")
        return cell
    return _number_text(cell, whole=False)


def _number_text(cell: Any, *, whole: bool) -> str:
    found, reason = number_text(cell, whole=whole) if is_number(cell) else ("", "not a text")
    if reason:
        raise Malformed(reason)
    return found


def identifier(cell: Any) -> str:
    """A text of at most 255 characters, or a whole number."""
    found = text(cell) if isinstance(cell, str) else _number_text(cell, whole=True)
    if len(found) > LONGEST_ID:
        raise Malformed(f"longer than {LONGEST_ID} characters")
    return found


def lowered(cell: Any) -> str:
    """An identifier in lower case, without spaces around it."""
    return identifier(cell).strip().lower()


def name(cell: Any) -> str:
    """A text, cut at 1,000 characters."""
    return text(cell)[:LONGEST_NAME]


def uuid(cell: Any) -> str:
    """A UUID in lower case."""
    found = text(cell).lower()
    if not _UUID.fullmatch(found):
        raise Malformed("not a UUID")
    return found


def currency_code(cell: Any) -> str:
    """Three letters, upper-cased: rates go back to currencies that ISO 4217 has withdrawn."""
    found = text(cell).strip().upper()
    if not _CODE.fullmatch(found):
        raise Malformed("not a currency code of three letters")
    return found


def currency(cell: Any) -> str:
    """A currency that ISO 4217 lists, upper-cased."""
    found = currency_code(cell)
    if found not in DECIMALS:
        raise Malformed("not a currency of ISO 4217")
    return found


def timezone(cell: Any) -> str:
    """The IANA name of a time zone."""
    found = text(cell)
    if found not in _ZONES:
        raise Malformed("not an IANA time zone")
    return found


def one_of(*choices: str) -> Read:
    """One of these words, in any case."""

    def read(cell: Any) -> str:
        found = text(cell).lower()
        if found not in choices:
            raise Malformed(f"neither {' nor '.join(choices)}")
        return found

    return read


def instant(cell: Any) -> int:
    """An ISO 8601 time as an instant; without an offset it is UTC."""
    found = times.instant(text(cell) if isinstance(cell, str) else cell)
    if found == times.UNREADABLE:
        raise Malformed("not an ISO 8601 time")
    if not 0 <= found < LATEST:
        raise Malformed("before 1970 or after 2100")
    return found


def day(cell: Any) -> int:
    """A date (`2025-01-31`) as a day."""
    if isinstance(cell, datetime):
        if cell.time() != time.min:
            raise Malformed("not a date")
        return day_number(cell.date())
    if isinstance(cell, date):
        return day_number(cell)
    written = text(cell).strip()
    try:
        if _DAY.fullmatch(written):
            return day_number(date.fromisoformat(written))
    except ValueError:
        pass
    raise Malformed("not a date (YYYY-MM-DD)")


def count(cell: Any) -> int:
    """A whole number from 0 that fits into 64 bits."""
    if cell.__class__ is int and 0 <= cell < _LIMIT:
        return int(cell)
    if cell.__class__ is str and _FEW_DIGITS.fullmatch(cell):
        return int(cell)
    found = _number(cell)
    if found != found.to_integral_value():
        raise Malformed("not a whole number")
    if found < 0:
        raise Malformed("negative")
    return int(found)


def decimal(cell: Any) -> str:
    """A number as its one exact spelling: no exponent, no needless zeros."""
    written = repr(cell) if isinstance(cell, float) else str(cell)
    if isinstance(cell, bool) or not _PLAIN.fullmatch(written):
        written = format(_number(cell), "f")
    if "." in written:
        written = written.rstrip("0").rstrip(".")
        if len(written.partition(".")[2]) > MOST_DECIMALS:
            raise Malformed(f"more than {MOST_DECIMALS} decimals")
    return "0" if written == "-0" else written


def positive(cell: Any) -> str:
    """A decimal greater than 0."""
    found = decimal(cell)
    if found == "0" or found.startswith("-"):
        raise Malformed("not positive")
    return found


def _number(cell: Any) -> Decimal:
    if isinstance(cell, float):
        cell = repr(cell)  # the shortest text that means this float
    if isinstance(cell, str):
        cell = cell.strip()
        if not _NUMBER.fullmatch(cell):
            raise Malformed("not a number")
    elif isinstance(cell, bool) or not isinstance(cell, int | Decimal):
        raise Malformed("not a number")
    try:
        found = Decimal(cell)
    except InvalidOperation:
        raise Malformed("not a number") from None
    if not found.is_finite():
        raise Malformed("not a number")
    if not found:
        return Decimal(0)
    if found.adjusted() > 18 or abs(found) >= _LIMIT:
        raise Malformed("beyond 64 bits")
    if found.adjusted() < -MOST_DECIMALS:
        raise Malformed(f"more than {MOST_DECIMALS} decimals")
    return found


def json_object(cell: Any) -> str:
    """An object, decoded or as JSON text, as JSON text."""
    try:
        if isinstance(cell, str | bytes):
            written = cell if isinstance(cell, str) else cell.decode()
            value = _DECODE.decode(written)
        else:
            value, written = cell, _ENCODE.encode(cell).decode()
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        raise Malformed("not a JSON object") from None
    if not isinstance(value, dict):
        raise Malformed("not a JSON object")
    if any("\0" in found for found in _texts(value)):
        raise Malformed("has a NUL character")
    return written.strip()


# Numbers keep their digits, in a schema too.
_DECODE: Final = msgspec.json.Decoder(float_hook=Decimal)
_ENCODE: Final = msgspec.json.Encoder(decimal_format="number")


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, names of members too; without recursion."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            yield from value
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)

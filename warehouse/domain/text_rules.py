"""Rules for texts that people and files state: ids, names, currencies, time zones, JSON.

A rule returns the text as it is stored. It raises ValueError with a reason that does not quote the
text: `is not a currency of ISO 4217`.
"""

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from warehouse.domain.time import ZONES
from warehouse.domain.vocabulary import DECIMALS

MAX_ID: Final = 255
MAX_NAME: Final = 1_000

# Broken scripts send these, in any case, as the id of every visitor alike: the ids of nobody.
NO_IDS: Final = ("undefined", "null", "nan", "[object object]")

HAS_NUL: Final = "has a NUL character"
_CURRENCY: Final = re.compile(r"[A-Z]{3}")


def identifier(text: str) -> str:
    """A text of at most 255 characters."""
    if len(text) > MAX_ID:
        raise ValueError(f"is longer than {MAX_ID} characters")
    return without_nul(text)


def is_no_id(text: str) -> bool:
    """Whether a text in the place of an id says nothing."""
    return not text or text.lower() in NO_IDS


def name(text: str) -> str:
    """A text, cut at 1,000 characters."""
    return without_nul(text)[:MAX_NAME]


def without_nul(text: str) -> str:
    """Any text that databases can store."""
    if "\0" in text:
        raise ValueError(HAS_NUL)
    return text


def currency_code(text: str) -> str:
    """Three letters in upper case: exchange rates go back to currencies that ISO 4217 has withdrawn."""
    code = text.strip().upper()
    if not _CURRENCY.fullmatch(code):
        raise ValueError("is not a currency code of three letters")
    return code


def currency(text: str) -> str:
    """A currency that ISO 4217 lists, in upper case."""
    code = currency_code(text)
    if code not in DECIMALS:
        raise ValueError("is not a currency of ISO 4217")
    return code


def timezone(text: str) -> str:
    """The IANA name of a time zone."""
    if text not in ZONES:
        raise ValueError("is not an IANA time zone; an example is Europe/Berlin")
    return text


def read_float(written: str) -> Decimal:
    """A number with a point or an exponent, with every digit: binary floats would not keep them. One whose
    exponent no Decimal holds (`1e99999999999999999999`) is infinite, which no field takes."""
    try:
        return Decimal(written)
    except InvalidOperation:
        return Decimal("Infinity")


def texts_in(value: Any) -> Iterator[str]:
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

"""Texts: ids, names, words of a list, currencies, e-mail addresses, JSON objects."""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from math import inf, isnan
from typing import Any, Final, TypeVar

import msgspec

from jobs.importing.values.errors import InvalidValue, LostDigits, quoted
from jobs.importing.values.numbers import is_number, number_text
from warehouse.domain import text_rules
from warehouse.domain.addresses import masked
from warehouse.domain.email_hash import hashed_email, is_sha256, keyed_of, names_address
from warehouse.domain.hash_ids import is_uuid
from warehouse.domain.text_rules import HAS_NUL, texts_in

MAX_SHORT_TEXT: Final = 255


# The forms that an id of digits takes in programs that read it as a number with decimals: 1.2E+17, 123.0.
# Some ids have an E among their digits, but neither a point nor a plus.
AS_FLOAT: Final = re.compile(
    r"[0-9]+[.,][0-9]+E[+]?[0-9]+|[0-9]+E[+][0-9]+|[0-9]+[.]0+|[0-9]+,0", re.I
)
# Whole numbers up to here are exact in binary floats.
_EXACT: Final = 2**53

Word = TypeVar("Word", str, int)


def text(value: Any, *, whole: bool = False) -> str:
    """A text; a number counts as the text that JSON writes, since many ids are numbers. `whole`: it
    must then be a whole one. Raises InvalidValue."""
    if isinstance(value, str):
        if "\0" in value:
            raise InvalidValue(HAS_NUL)
        return value
    if not is_number(value):
        raise InvalidValue(f"{quoted(value)} is not a text")
    return number_text(value, whole=whole)


def identifier(value: Any) -> str:
    """A text of at most 255 characters, or a whole number; `123.0` is 123. Raises InvalidValue; LostDigits
    for a number of which digits may be lost."""
    if isinstance(value, str):
        if "0" <= value[:1] <= "9" and AS_FLOAT.fullmatch(value.strip()):
            whole = re.split("[.,]", value.strip())[0]
            if "e" in value.lower() or len(whole) > text_rules.MAX_ID or int(whole) >= _EXACT:
                raise LostDigits(value)
            return whole
    elif (
        isinstance(value, float | Decimal)
        and _EXACT <= value < inf
        and not (isinstance(value, Decimal) and value.as_tuple().exponent == 0)
    ):
        raise LostDigits(value)
    return _WHOLE_ID(value)


def sent_id(value: Any) -> str | None:
    """An identifier; None if it is a text that broken scripts send in the place of one, or the `NaN` that
    programs write into a column of numbers."""
    plain = "nan" if isinstance(value, float) and isnan(value) else identifier(value)
    return None if text_rules.is_no_id(plain) else plain


def code(value: Any) -> str:
    """An identifier in upper case: discount codes compare without regard to case."""
    return identifier(value).upper()


def provider(value: Any) -> str:
    """An identifier in lower case, without spaces around it."""
    return identifier(value).strip().lower()


def name(value: Any) -> str:
    """A text, cut at 1,000 characters."""
    return text_rules.name(text(value))


def short_text(value: Any) -> str:
    """A text, cut at 255 characters."""
    return text(value)[:MAX_SHORT_TEXT]


def page_path(value: Any) -> str:
    """The path of a page, cut at 255 characters: without a query, and without e-mail addresses."""
    path = text(value).partition("?")[0].partition("#")[0]
    return masked(path, lambda _address: "***")[:MAX_SHORT_TEXT]


def uuid(value: Any) -> str:
    """A UUID of 36 characters, in lower case. Raises InvalidValue."""
    plain = text(value, whole=True).lower()
    if not is_uuid(plain):
        raise InvalidValue(
            f"{quoted(value)} is not a UUID; forms may have other ids in tracking calls (format segment)"
        )
    return plain


def word_of(words: Mapping[str, Word], *, any_case: bool = False) -> Callable[[Any], Word]:
    """A reader of one of these words, which gives what stands for it."""
    listed = ", ".join(words)

    def read(value: Any) -> Word:
        written = text(value, whole=True)
        word = words.get(written.lower() if any_case else written)
        if word is None:
            raise InvalidValue(f"{quoted(value)} is none of {listed}")
        return word

    return read


def _by_rule(rule: Callable[[str], str], *, whole: bool = False) -> Callable[[Any], str]:
    """A reader of the texts that a rule allows; `whole`: as of `text`. Raises InvalidValue."""

    def read(value: Any) -> str:
        written = text(value, whole=whole)
        try:
            return rule(written)
        except ValueError as cause:
            raise InvalidValue(f"{quoted(value)} {cause}") from None

    return read


_WHOLE_ID: Final = _by_rule(text_rules.identifier, whole=True)
currency_code: Final = _by_rule(text_rules.currency_code)
"""Three letters in upper case, of any time."""
currency: Final = _by_rule(text_rules.currency)
"""A currency that ISO 4217 lists, in upper case."""
timezone: Final = _by_rule(text_rules.timezone)
"""The IANA name of a time zone."""


def email(value: Any) -> str:
    """The plain hash of an address, or the mark of the keyed one, which a kept reject has; "" for one that
    is blank. Raises InvalidValue."""
    if not isinstance(value, str) and not is_number(value):
        raise InvalidValue("not a text")  # no part of an address is quoted
    address = text(value, whole=True)
    if address.strip() and not names_address(address):
        raise InvalidValue("no address: it has no @")
    return address if keyed_of(address) else hashed_email(address)


def email_sha256(value: Any) -> str:
    """64 hexadecimal digits, in lower case, or the mark of a keyed hash. Raises InvalidValue."""
    plain = text(value, whole=True).strip().lower()
    if not is_sha256(plain) and not keyed_of(plain):
        raise InvalidValue("not 64 hexadecimal digits (SHA-256 of the address in lower case)")
    return plain


_TRUE_OR_FALSE: Final[dict[Any, int]] = {
    **dict.fromkeys((True, 1, 1.0, "true", "1"), 1),
    **dict.fromkeys((False, 0, 0.0, "false", "0"), 0),
}


def flag(value: Any) -> int:
    """1 for true, 0 for false. Raises InvalidValue."""
    plain = value.lower() if isinstance(value, str) else value
    if plain.__hash__ is None or plain not in _TRUE_OR_FALSE:
        raise InvalidValue(f"{quoted(value)} is neither true nor false")
    return _TRUE_OR_FALSE[plain]


# Numbers keep their digits, in a schema too.
_DECODE: Final = msgspec.json.Decoder(float_hook=Decimal)
_ENCODE: Final = msgspec.json.Encoder(decimal_format="number")


def json_object(value: Any) -> str:
    """An object, decoded or as JSON text, as JSON text. Raises InvalidValue."""
    try:
        encoded = value if isinstance(value, str | bytes) else _ENCODE.encode(value)
        written = encoded if isinstance(encoded, str) else encoded.decode()
        # Decoded to check it, also where it was encoded here: an infinite number is no JSON.
        decoded = _DECODE.decode(written)
    except (msgspec.MsgspecError, TypeError, ValueError, ArithmeticError, RecursionError):
        decoded = None
    if not isinstance(decoded, dict):
        raise InvalidValue(f"{quoted(value)} is not a JSON object")
    if any("\0" in inner for inner in texts_in(decoded)):
        raise InvalidValue(HAS_NUL)
    return written.strip()

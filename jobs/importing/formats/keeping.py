"""What of a foreign record is kept when it is rejected: the places that its mapping looks at."""

from decimal import Decimal
from typing import Any, Final

import msgspec

from jobs.importing.formats.format import Format
from jobs.importing.formats.places import Places, places_of
from jobs.importing.formats.records import Record
from jobs.importing.identity import hashed_email

_ENCODE: Final = msgspec.json.Encoder(decimal_format="number").encode
_DECODE: Final = msgspec.json.Decoder(float_hook=Decimal).decode


def kept_text(format: Format, record: Record) -> str:
    """A record as JSON, as far as it may be kept. Its mapping comes to the same row."""
    return _ENCODE(format.conceal(taken(format, record))).decode()


def kept_record(text: str) -> Record | None:
    """The record of a kept text; None where it is no record (a line that could not be read)."""
    try:
        found = _DECODE(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def taken(format: Format, record: Record) -> Record:
    """A record without what its mapping does not look at; e-mail addresses as their hashes."""
    found: Record = _taken(record, places_of(format.takes))
    return found


def _taken(value: Any, places: Places) -> Any:
    if isinstance(value, list):
        return [_taken(one, places) for one in value]
    if not isinstance(value, dict) or not places:
        return value
    return {
        name: _hashed(name, value[name]) if not below else _taken(value[name], below)
        for name, below in places.items()
        if name in value
    }


def _hashed(name: str, value: Any) -> Any:
    is_address = "email" in name.lower() and isinstance(value, str)
    return hashed_email(value) if is_address else value

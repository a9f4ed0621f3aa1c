"""Records as their rejects keep them: cut down to the places that a mapping looks at, without addresses."""

from typing import Any, Final

import msgspec

from jobs.importing.files.json import DECODE, Places
from warehouse.domain.email_hash import plain_mark

_ENCODE: Final = msgspec.json.Encoder(decimal_format="number").encode


def projected(value: Any, places: Places) -> Any:
    """A record with these places alone, and e-mail addresses as their plain hashes."""
    if isinstance(value, list):
        return [projected(item, places) for item in value]
    if not isinstance(value, dict) or not places:
        return value
    return {
        name: projected(value[name], below) if below else _hashed(name, value[name])
        for name, below in places.items()
        if name in value
    }


def _hashed(name: str, value: Any) -> Any:
    if "email" not in name.lower() or not isinstance(value, str):
        return value
    # A text that should be a hash and is none must not become one: a retry would accept it.
    return value if "sha256" in name.lower() else plain_mark(value)


def encode(record: Any) -> str:
    """A record, or any other value, as JSON; numbers keep their digits."""
    return _ENCODE(record).decode()


def kept_record(text: str) -> dict[str, Any] | None:
    """The record of a kept text; None if it is no record (a line that could not be read)."""
    try:
        record = DECODE(text.encode("utf-8", "surrogatepass"))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return record if isinstance(record, dict) else None

"""Records cut down to the places that a mapping looks at: when they are read, and when rejects are kept."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, TypeAlias, TypedDict

import msgspec

from warehouse.domain.email_hash import plain_mark
from warehouse.domain.json_values import read_float

# A place by its first name, with the places below it; without any, all that lies there is kept.
Places: TypeAlias = "dict[str, Places]"
# (source, field of ours) pairs: `Format.source_fields`.
SourceFields: TypeAlias = tuple[tuple[str, str], ...]

_ENCODE: Final = msgspec.json.Encoder(decimal_format="number").encode
_DECODE: Final = msgspec.json.Decoder(float_hook=read_float).decode


@cache
def places_of(source_fields: SourceFields) -> Places:
    """The tree of the sources in `Format.source_fields`; if one lies within another, the outer stands."""
    tree: Places = {}
    sources = [source.replace("[]", "").split(".") for source, _ in source_fields]
    for names in sorted(sources, key=len, reverse=True):
        *above, last = names
        below = tree
        for name in above:
            below = below.setdefault(name, {})
        below[last] = {}
    return tree


def decoder(source_fields: SourceFields, list_members: Sequence[str]) -> Callable[[bytes], Any]:
    """A function that decodes a JSON object as a dict of the source fields alone, and of the list
    members, whole.

    The function raises msgspec's DecodeError, UnicodeError and RecursionError.
    """
    places = places_of(source_fields) | {name: {} for name in list_members}
    return msgspec.json.Decoder(_type_of(places), float_hook=read_float).decode


def _type_of(places: Places) -> Any:
    if not places:
        return Any
    types = {name: _type_of(below) for name, below in places.items()}
    record = TypedDict("record", types, total=False)  # type: ignore[misc]
    # All that JSON has, so that a value of an unexpected type is decoded as it is.
    other = str | int | float | bool | None
    return record | list[record | list | other] | other


def projected(record: dict[str, Any], source_fields: SourceFields) -> dict[str, Any]:
    """A record with its source fields alone, and e-mail addresses as their plain hashes."""
    kept: dict[str, Any] = _projected(record, places_of(source_fields))
    return kept


def _projected(value: Any, places: Places) -> Any:
    if isinstance(value, list):
        return [_projected(item, places) for item in value]
    if not isinstance(value, dict) or not places:
        return value
    return {
        name: _projected(value[name], below) if below else _hashed(name, value[name])
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
        record = _DECODE(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return record if isinstance(record, dict) else None

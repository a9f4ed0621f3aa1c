"""Request bodies: JSON objects, taken as they were written.

A `schema` is stored as the very text that the client sent, so numbers keep their spelling and size.
The parsed form serves only to check it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from flask import request

from web.errors import Refusal, malformed

MOST_NAME: Final = 255


@dataclass(frozen=True)
class Body:
    """A JSON object: its members parsed (every number as 0), and each member's own text."""

    members: dict[str, Any]
    texts: dict[str, str]

    def name(self, member: str) -> str:
        """A text of 1 to 255 characters after trimming. Raises the 400 `invalid_body`."""
        value = self.members.get(member)
        if not isinstance(value, str) or not 1 <= len(value.strip()) <= MOST_NAME:
            raise _invalid(f"`{member}` is a text of 1 to {MOST_NAME} characters.")
        _require_storable(value, member)
        return value.strip()

    def object_text(self, member: str) -> str:
        """The JSON text of an object. Raises the 400 `invalid_body`."""
        value = self.members.get(member)
        if not isinstance(value, dict):
            raise _invalid(f"`{member}` is an object.")
        _require_storable(value, member)
        return self.texts[member]


def read_body() -> Body:
    """The body of the request at hand. Raises 415, 413, `invalid_json`, `invalid_body`."""
    if request.mimetype != "application/json":
        raise Refusal(
            415, "unsupported_media_type", "The body must come as `Content-Type: application/json`."
        )
    content = request.get_data(cache=False)
    try:
        value = json.loads(
            content.decode(), parse_int=_zero, parse_float=_zero, parse_constant=_no_json
        )
        if isinstance(value, dict):
            raw = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
            return Body(value, {name: bytes(text).decode() for name, text in raw.items()})
    except (ValueError, RecursionError):
        # Neither JSON, nor nested so deeply that no reader of the schema could take it.
        raise malformed("invalid_json", "The body is not JSON, or is nested too deeply.") from None
    raise _invalid("The body is not an object.")


def _zero(_digits: str) -> int:
    # A number's size does not matter here, and may be more than a number can hold.
    return 0


def _no_json(name: str) -> Any:
    raise ValueError(name)


def _require_storable(value: Any, member: str) -> None:
    """No NUL and no half of a surrogate pair, neither of which a database takes as text."""
    for text in _texts(value):
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            raise _invalid(f"`{member}` contains a character that cannot be stored.")


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


def _invalid(message: str) -> Refusal:
    return malformed("invalid_body", message)

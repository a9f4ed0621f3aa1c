"""Request bodies: JSON objects, kept as they were written.

A `schema` is stored as the very text that the client sent, so numbers keep their spelling and size.
The parsed form serves only to check it.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from flask import request

from warehouse.domain.text_rules import texts_in
from web.http.errors import CODES, MESSAGES, Refusal, malformed
from web.http.request_bodies import MAX_BYTES

MAX_NAME: Final = 255

Value = TypeVar("Value")


@dataclass(frozen=True)
class Body:
    """A JSON object: its members parsed (every number as 0), and each member's own text."""

    members: dict[str, Any]
    texts: dict[str, str]

    def name(self, member: str) -> str:
        """A text of 1 to 255 characters after trimming. Raises the 400 `invalid_body`."""
        value = self.members.get(member)
        if not isinstance(value, str) or not 1 <= len(value.strip()) <= MAX_NAME:
            raise _invalid(f"`{member}` is a text of 1 to {MAX_NAME} characters.")
        _require_storable(value, member)
        return value.strip()

    def read(self, member: str, rule: Callable[[str], Value]) -> Value:
        """Apply a rule to a text; the rule raises ValueError. Raises the 400 `invalid_body`."""
        value = self.members.get(member)
        if not isinstance(value, str):
            raise _invalid(f"`{member}` is a text.")
        _require_storable(value, member)
        try:
            return rule(value)
        except ValueError as error:
            raise _invalid(f"`{member}` {error}.") from None

    def object_text(self, member: str) -> str:
        """The JSON text of an object. Raises the 400 `invalid_body`."""
        value = self.members.get(member)
        if not isinstance(value, dict):
            raise _invalid(f"`{member}` is an object.")
        _require_storable(value, member)
        return self.texts[member]


def read_json() -> bytes:
    """The body of the request at hand, which says that it is JSON. Raises 415 and 413."""
    if request.mimetype != "application/json":
        raise Refusal(415, CODES[415], "The body must come as `Content-Type: application/json`.")
    # Bytes are counted here, since a chunked body does not announce its length.
    content = request.stream.read()
    if len(content) > MAX_BYTES:
        raise Refusal(413, CODES[413], MESSAGES[413])
    return content


def read_body() -> Body:
    """The body of the request at hand. Raises 415, 413, `invalid_json`, `invalid_body`."""
    try:
        text = read_json().decode()
        members = _DECODER.decode(text)
    except (ValueError, RecursionError):
        # No JSON, or nested so deeply (a thousand levels) that no reader of the schema takes it.
        raise malformed("invalid_json", "The body is not JSON, or is nested too deeply.") from None
    if not isinstance(members, dict):
        raise _invalid("The body is not an object.")
    return Body(members, _member_texts(text))


def _member_texts(text: str) -> dict[str, str]:
    """Each member's own text in the text of a JSON object, which is known to be one."""
    texts = {}
    place = _past_space(text, text.index("{") + 1)
    while text[place] == '"':
        name, end = _DECODER.raw_decode(text, place)
        start = _past_space(text, text.index(":", end) + 1)
        _, end = _DECODER.raw_decode(text, start)
        texts[name] = text[start:end]
        place = _past_space(text, end)
        if text[place] == ",":
            place = _past_space(text, place + 1)
    return texts


def _past_space(text: str, place: int) -> int:
    while text[place] in " \t\n\r":
        place += 1
    return place


def _zero(_digits: str) -> int:
    # A number's size does not matter here, and may be more than a number can hold.
    return 0


def _no_json(name: str) -> Any:
    raise ValueError(name)


_DECODER: Final = json.JSONDecoder(parse_int=_zero, parse_float=_zero, parse_constant=_no_json)


def _require_storable(value: Any, member: str) -> None:
    """Raise the 400 for a NUL or half of a surrogate pair, neither of which a database takes as text."""
    for text in texts_in(value):
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            raise _invalid(f"`{member}` contains a character that cannot be stored.")


def _invalid(message: str) -> Refusal:
    return malformed("invalid_body", message)

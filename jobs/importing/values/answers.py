"""The values of answers, as text."""

from collections.abc import Callable
from typing import Any, Final

import orjson

from jobs.importing.files.json import DECODE, UNDECODABLE
from jobs.importing.values.errors import InvalidValue, TooLarge
from jobs.importing.values.numbers import is_number, number_text
from warehouse.domain.text_rules import HAS_NUL
from warehouse.domain.vocabulary import AGGREGATABLE_FIELD_TYPES, MOST_CHOICES

MAX_ANSWER: Final = 1_000
# Reasons never quote an answer: it may be free text.
_MALFORMED: Final = "not a text, number, boolean or list of them"
_BEYOND: Final = "beyond 64 bits"
Stored = str | InvalidValue | None
HashText = Callable[[str], str]


def as_text(value: Any) -> str:
    """An answer (or one of several) as text of at most 1,000 characters. Raises InvalidValue."""
    if isinstance(value, str):
        if "\0" in value:
            raise InvalidValue(HAS_NUL)
        return value[:MAX_ANSWER]
    if isinstance(value, bool):
        return "true" if value else "false"
    if not is_number(value):
        raise InvalidValue(_MALFORMED)
    try:
        return number_text(value)[:MAX_ANSWER]
    except TooLarge:
        raise InvalidValue(_BEYOND) from None
    except InvalidValue:
        raise InvalidValue(_MALFORMED) from None


def is_answer(value: Any) -> bool:
    """Whether a value is an answer: a list without any element is none."""
    return any(map(_is_present, value)) if isinstance(value, (list, tuple)) else _is_present(value)


def _is_present(value: Any) -> bool:
    return value is not None and value != ""


def answer_json(value: Any, hash_text: HashText) -> str:
    """The value of an aggregatable answer as raw_event holds it: the JSON of a text, or of the
    distinct texts of a list by code point, at most MOST_CHOICES. `hash_text` hashes a text that is an e-mail
    address. Raises InvalidValue."""
    if not isinstance(value, (list, tuple)):
        return orjson.dumps(hash_text(as_text(value))).decode()
    texts = {hash_text(as_text(item)) for item in value if _is_present(item)}
    if len(texts) > MOST_CHOICES:
        raise InvalidValue(f"{len(texts)} choices; an answer has at most {MOST_CHOICES}")
    return orjson.dumps(sorted(texts)).decode()


def typed(value: Any, field_type: str) -> Any:
    """A value that may be written as text (CSV, Parquet): lists as JSON; numbers and booleans, if the
    type of field has such values."""
    if not isinstance(value, str) or not value:
        return value
    if value[0] == "[":
        items = _json(value)
        return items if isinstance(items, list) else value
    if field_type == "scale":
        number = _json(value)
        return number if is_number(number) else value
    if field_type == "boolean" and value.lower() in ("true", "false"):
        return value.lower()
    return value


def _json(text: str) -> Any:
    try:
        return DECODE(text)
    except UNDECODABLE:
        return None


def stored_answer(field_type: str, value: Any, hash_text: HashText, *, textual: bool) -> Stored:
    """The stored text of an answer; "" for a type that cannot be aggregated, whose values nobody looks at;
    None for an empty list, which is no answer; InvalidValue for what is refused."""
    value = typed(value, field_type) if textual else value
    if not is_answer(value):
        return None
    if field_type not in AGGREGATABLE_FIELD_TYPES:
        return ""
    try:
        return answer_json(value, hash_text)
    except InvalidValue as cause:
        return cause

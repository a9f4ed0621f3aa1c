"""The values of answers, as text: contract 2, events."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

import msgspec
import orjson

from jobs.importing.numbers import BEYOND, is_number, number_text
from warehouse.vocabulary import AGGREGATABLE_FIELD_TYPES

LENGTH: Final = 1000
# Why there is no text of a value. No JSON text looks like one of them.
WRONG: Final = (
    MALFORMED := "not a text, number, boolean or list of them",
    HAS_NUL := "has a NUL character",
    BEYOND,
)
_DECODE: Final = msgspec.json.Decoder(float_hook=Decimal).decode


def as_text(value: Any) -> tuple[str, str]:
    """An answer (or one of several) as text of at most 1,000 characters, and "" or why it has none."""
    if isinstance(value, str):
        return value[:LENGTH], HAS_NUL if "\0" in value else ""
    if isinstance(value, bool):
        return "true" if value else "false", ""
    if not is_number(value):
        return "", MALFORMED
    found, reason = number_text(value)
    return found[:LENGTH], BEYOND if reason == BEYOND else MALFORMED if reason else ""


def stored(value: Any) -> str:
    """The value of an aggregatable answer as raw_event holds it: the JSON of a text, or of the
    distinct texts of a list by code point; "" where a list has no element; one of WRONG."""
    if isinstance(value, (list, tuple)):
        read = [as_text(one) for one in value if one is not None and one != ""]
        reasons = [reason for _, reason in read if reason]
        found: Any = sorted({text for text, _ in read})
        if reasons or not found:
            return reasons[0] if reasons else ""
    else:
        found, reason = as_text(value)
        if reason:
            return reason
    return orjson.dumps(found).decode()


def typed(value: Any, field_type: str) -> Any:
    """A value that may have been written as text (CSV, Parquet): lists as JSON, and for types
    that are numbers or booleans, those."""
    if not isinstance(value, str) or not value:
        return value
    if value[0] == "[":
        read = _json(value)
        return read if isinstance(read, list) else value
    if field_type == "scale":
        read = _json(value)
        return read if is_number(read) else value
    if field_type == "boolean" and value.lower() in ("true", "false"):
        return value.lower()
    return value


def _json(text: str) -> Any:
    try:
        return _DECODE(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def stored_answers(
    types: Sequence[str], values: Sequence[Any], *, textual: bool
) -> list[str | None]:
    """Of each answer `stored`, but "" for types that cannot be aggregated, of which only an empty
    list is told apart: it is no answer, and gives None, as does one of any type."""
    known: dict[tuple[str, type, Any], str | None] = {}
    found = []
    for field_type, value in zip(types, values, strict=True):
        if isinstance(value, (list, dict)):
            found.append(_one(field_type, value))
            continue
        key = (field_type, type(value), value)
        if key not in known:
            known[key] = _one(field_type, typed(value, field_type) if textual else value)
        found.append(known[key])
    return found


def _one(field_type: str, value: Any) -> str | None:
    text = stored(value) or None
    if field_type in AGGREGATABLE_FIELD_TYPES or text is None or text in WRONG:
        return text
    return ""

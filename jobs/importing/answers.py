"""The values of answers, as text: contract 2, events."""

from collections.abc import Sequence
from typing import Any, Final

import orjson

from warehouse.vocabulary import AGGREGATABLE_FIELD_TYPES

LENGTH: Final = 1000
# What `stored` gives for a value that is none; no JSON text looks like it.
MALFORMED: Final = "malformed"
HAS_NUL: Final = "nul"


def as_text(value: Any) -> str | None:
    """An answer (or one of several) as text of at most 1,000 characters; None where it is none."""
    if isinstance(value, str):
        return value[:LENGTH]
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)[:LENGTH]
    if isinstance(value, float):
        return str(int(value))[:LENGTH] if value.is_integer() else repr(value)
    return None


def stored(value: Any) -> str:
    """The value of an aggregatable answer as raw_event holds it: the JSON of a text, or of the
    distinct texts of a list by code point; "" where a list has no element; MALFORMED, HAS_NUL."""
    if isinstance(value, (list, tuple)):
        texts = {as_text(one) for one in value if one is not None and one != ""}
        if None in texts:
            return MALFORMED
        found: Any = sorted(texts)
        if not found:
            return ""
    else:
        found = as_text(value)
        if found is None:
            return MALFORMED
    if "\0" in (found if isinstance(found, str) else "".join(found)):
        return HAS_NUL
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
        return read if isinstance(read, (int, float)) and not isinstance(read, bool) else value
    if field_type == "boolean" and value.lower() in ("true", "false"):
        return value.lower()
    return value


def _json(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
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
    if field_type in AGGREGATABLE_FIELD_TYPES or text in (None, MALFORMED, HAS_NUL):
        return text
    return ""

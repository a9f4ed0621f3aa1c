"""Query parameters, each with its one parser: texts in, a value out, or the parameter's own 400.

A parameter given twice or empty is malformed (contract 5); unknown parameters are not looked at.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from web.errors import malformed

UUID_TEXT: Final = re.compile(
    r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
)
_DIGITS: Final = re.compile(r"[0-9]+")

DEFAULT_LIMIT: Final = 50
MOST_LIMIT: Final = 200
MOST_FORM_IDS: Final = 100


@dataclass(frozen=True)
class Parameter:
    """A query parameter: its name in the address, the argument it becomes, and how it is read.

    `parse` takes every text given for the parameter, in order (none where it was left out).
    `schema` (JSON Schema) is what it takes, as far as a schema can say so; `code` is that of its 400,
    None where it has none.
    """

    name: str
    argument: str
    parse: Callable[[list[str]], Any]
    description: str
    schema: Mapping[str, Any]
    code: str | None
    required: bool = False


@dataclass(frozen=True)
class RequestHeader:
    """A header that a request can have: what it means, what it takes (JSON Schema), and the codes that
    it can be refused with, by status."""

    name: str
    description: str
    schema: Mapping[str, Any]
    refusals: Mapping[int, str]


def one_text(texts: list[str], name: str, code: str) -> str | None:
    """The text of a parameter given at most once and not empty; None where it was left out."""
    if not texts:
        return None
    if len(texts) > 1:
        raise malformed(code, f"`{name}` is given more than once.")
    if not texts[0]:
        raise malformed(code, f"`{name}` is empty.")
    return texts[0]


def _limit(texts: list[str]) -> int:
    text = one_text(texts, "limit", "invalid_limit")
    if text is None:
        return DEFAULT_LIMIT
    if not _DIGITS.fullmatch(text) or not text.strip("0"):
        raise malformed("invalid_limit", f"`limit` is a whole number from 1 to {MOST_LIMIT}.")
    # Compared by its length first: a number of a million digits is clamped like any other.
    digits = text.lstrip("0")
    return MOST_LIMIT if len(digits) > 3 else min(int(digits), MOST_LIMIT)


def _cursor(texts: list[str]) -> str | None:
    # No text at all is page one. A cursor that is empty, or given twice, is none that was ever
    # given out, and has an empty page like any other unknown one.
    return None if not texts else texts[0] if len(texts) == 1 else ""


def _form_ids(texts: list[str]) -> frozenset[str] | None:
    text = one_text(texts, "form_ids", "invalid_form_ids")
    if text is None:
        return None
    ids = {part.lower() for part in text.split(",")}
    if not all(map(UUID_TEXT.fullmatch, ids)):
        raise malformed("invalid_form_ids", "`form_ids` is a comma-separated list of UUIDs.")
    if len(ids) > MOST_FORM_IDS:
        raise malformed("invalid_form_ids", f"`form_ids` has more than {MOST_FORM_IDS} forms.")
    return frozenset(ids)


LIMIT: Final = Parameter(
    "limit",
    "limit",
    _limit,
    f"How many forms a page has at most. More than {MOST_LIMIT} is {MOST_LIMIT}.",
    {"type": "integer", "minimum": 1, "default": DEFAULT_LIMIT},
    "invalid_limit",
)
CURSOR: Final = Parameter(
    "cursor",
    "cursor",
    _cursor,
    "The page to get, from `meta.nextCursor` of the page before. A stale or unknown one has an empty "
    "page.",
    {"type": "string"},
    None,
)
FORM_IDS: Final = Parameter(
    "form_ids",
    "form_ids",
    _form_ids,
    f"Only these forms, comma-separated, at most {MOST_FORM_IDS} different ones: a row for each that is a "
    "form of the shop or has events in the window, with zeros where nothing happened. Without it, every "
    "form with an event in the window.",
    # Not `maxItems`, which would count an id that is there twice.
    {
        "type": "array",
        "minItems": 1,
        "items": {"type": "string", "format": "uuid"},
    },
    "invalid_form_ids",
)


def dimension(*words: str) -> Parameter:
    """The required `dimension`, one of these words."""

    def parse(texts: list[str]) -> str:
        text = one_text(texts, "dimension", "invalid_dimension")
        if text not in words:
            raise malformed("invalid_dimension", f"`dimension` is one of {', '.join(words)}.")
        return text

    return Parameter(
        "dimension",
        "dimension",
        parse,
        "What the rows are about.",
        {"type": "string", "enum": list(words)},
        "invalid_dimension",
        required=True,
    )


def field(name: str, argument: str) -> Parameter:
    """A required field id."""

    def parse(texts: list[str]) -> str:
        text = one_text(texts, name, "invalid_field")
        if text is None:
            raise malformed("invalid_field", f"`{name}` is missing.")
        return text

    return Parameter(
        name,
        argument,
        parse,
        "The id of a field of the form; the two are different ones.",
        {"type": "string", "minLength": 1},
        "invalid_field",
        required=True,
    )

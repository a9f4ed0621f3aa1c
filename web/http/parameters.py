"""Query parameters and their parsers: a parser turns texts into a value, or raises the parameter's 400.

A parameter that is repeated or empty is malformed, and so is one that the endpoint does not have.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from web.http.errors import malformed

UUID_TEXT: Final = re.compile(
    r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
)
_DIGITS: Final = re.compile(r"[0-9]+")

UNKNOWN_PARAMETER: Final = "unknown_parameter"
DEFAULT_LIMIT: Final = 50
MAX_LIMIT: Final = 200
MAX_FORM_IDS: Final = 100
# Characters of a filter's value.
MAX_FILTER: Final = 255
INVALID_FILTER: Final = "invalid_filter"
_MAX_QUOTED: Final = 80
_MAX_DIGITS: Final = 6


@dataclass(frozen=True)
class Parameter:
    """A query parameter: its `name` in the address, and the `argument` of the answering function.

    `parse` gets all texts of the parameter in order, none if it is absent. `schema` (JSON Schema) describes
    valid values as far as a schema can. `code` is the code of its 400, None if it has none.
    """

    name: str
    argument: str
    parse: Callable[[list[str]], Any]
    description: str
    schema: Mapping[str, Any]
    code: str | None
    required: bool = False
    # The scope that a key needs to give it.
    scope: str | None = None


@dataclass(frozen=True)
class RequestHeader:
    """A request header: its description, a JSON Schema of its values, and the codes of its errors by
    status."""

    name: str
    description: str
    schema: Mapping[str, Any]
    refusals: Mapping[int, str]


def one_text(texts: list[str], name: str, code: str) -> str | None:
    """The text of a parameter, None if it is absent. Raises the 400 if it is repeated or empty."""
    if not texts:
        return None
    if len(texts) > 1:
        raise malformed(code, f"`{name}` is given {len(texts)} times. Give it once.")
    if not texts[0]:
        raise malformed(code, f"`{name}` is empty. Give it a value, or leave it out.")
    return texts[0]


def quoted(text: str) -> str:
    """A value as error messages show it: at most 80 characters."""
    return f"`{text}`" if len(text) <= _MAX_QUOTED else f"`{text[:_MAX_QUOTED]}...`"


def require_known(given: Iterable[str], names: Sequence[str]) -> None:
    """Raise the 400 for a name that is none of these: where a filter was ignored in silence, figures of all
    were taken for those of some."""
    for name in given:
        if name not in names:
            known = ", ".join(f"`{each}`" for each in names)
            has = f"has {known}" if known else "takes none"
            message = f"{quoted(name)} is no parameter of this address, which {has}."
            raise malformed(UNKNOWN_PARAMETER, message)


def _limit(texts: list[str]) -> int:
    text = one_text(texts, "limit", "invalid_limit")
    if text is None:
        return DEFAULT_LIMIT
    if not _DIGITS.fullmatch(text) or not text.strip("0"):
        raise malformed(
            "invalid_limit", f"`limit` is {quoted(text)}. Give an integer from 1 to {MAX_LIMIT}."
        )
    # A number of a million digits is clamped like any other, without being converted.
    digits = text.lstrip("0")
    return MAX_LIMIT if len(digits) > 3 else min(int(digits), MAX_LIMIT)


def _form_ids(texts: list[str]) -> frozenset[str] | None:
    text = one_text(texts, "form_ids", "invalid_form_ids")
    if text is None:
        return None
    ids = {part.lower() for part in text.split(",")}
    for id in sorted(ids):
        if not UUID_TEXT.fullmatch(id):
            message = (
                f"`form_ids` has {quoted(id)}, which is not a UUID. Separate UUIDs with commas."
            )
            raise malformed("invalid_form_ids", message)
    if len(ids) > MAX_FORM_IDS:
        message = f"`form_ids` has {len(ids)} different ids. Give at most {MAX_FORM_IDS}."
        raise malformed("invalid_form_ids", message)
    return frozenset(ids)


LIMIT: Final = Parameter(
    "limit",
    "limit",
    _limit,
    f"The maximum number of rows on a page. Values above {MAX_LIMIT} count as {MAX_LIMIT}.",
    {"type": "integer", "minimum": 1, "default": DEFAULT_LIMIT},
    "invalid_limit",
)
CURSOR: Final = Parameter(
    "cursor",
    "cursor",
    # An empty or repeated cursor is an unknown one.
    lambda texts: None if not texts else texts[0] if len(texts) == 1 else "",
    "`meta.nextCursor` of the previous page. Without it, the first page is returned. A stale or unknown "
    "cursor returns an empty page.",
    {"type": "string"},
    None,
)
FORM_IDS: Final = Parameter(
    "form_ids",
    "form_ids",
    _form_ids,
    f"Only these forms: at most {MAX_FORM_IDS} different ids, separated by commas. Each one that is a form "
    "of the shop or has events in the window gets a row, with zeros if nothing happened. Without "
    "`form_ids`, every form with an event in the window gets a row.",
    # `maxItems` would count a repeated id twice.
    {
        "type": "array",
        "minItems": 1,
        "items": {"type": "string", "format": "uuid"},
    },
    "invalid_form_ids",
)


def _filter(
    name: str, parse: Callable[[str], Hashable], *, allow_empty: bool = False
) -> Callable[[list[str]], Any]:
    """The parser of a filter: None where it is absent, the value of one text otherwise. Raises the 400, also
    for an empty text where that is no value (`allow_empty`)."""

    def parse_texts(texts: list[str]) -> Any:
        if texts == [""] and allow_empty:
            return ""
        text = one_text(texts, name, INVALID_FILTER)
        if text is None:
            return None
        if len(text) > MAX_FILTER or "\0" in text:
            message = f"`{name}` has a NUL, or over {MAX_FILTER} characters. Give a value as answers show it."
            raise malformed(INVALID_FILTER, message)
        return parse(text)

    return parse_texts


def any_text(
    name: str, description: str, *, allow_empty: bool = False, scope: str | None = None
) -> Parameter:
    """A filter by a text exactly."""
    schema: dict[str, Any] = {"type": "string", "maxLength": MAX_FILTER}
    if not allow_empty:
        schema["minLength"] = 1
    parse = _filter(name, str, allow_empty=allow_empty)
    return Parameter(name, name, parse, description, schema, INVALID_FILTER, scope=scope)


def one_of(name: str, words: Sequence[str], description: str) -> Parameter:
    """A filter by one of these words."""

    def parse(text: str) -> str:
        if text not in words:
            message = f"`{name}` is {quoted(text)}. Give one of: {', '.join(words)}."
            raise malformed(INVALID_FILTER, message)
        return text

    schema = {"type": "string", "enum": list(words)}
    return Parameter(name, name, _filter(name, parse), description, schema, INVALID_FILTER)


def of_form(description: str) -> Parameter:
    """A filter by a form's id, in lower case."""

    def parse(text: str) -> str:
        if not UUID_TEXT.fullmatch(text):
            raise malformed(INVALID_FILTER, f"`form_id` is {quoted(text)}, which is not a UUID.")
        return text.lower()

    schema = {"type": "string", "format": "uuid"}
    return Parameter(
        "form_id", "form_id", _filter("form_id", parse), description, schema, INVALID_FILTER
    )


def dimension(*words: str) -> Parameter:
    """The required `dimension`, one of these words."""

    def parse(texts: list[str]) -> str:
        text = one_text(texts, "dimension", "invalid_dimension")
        if text is None or text not in words:
            problem = "missing" if text is None else quoted(text)
            message = f"`dimension` is {problem}. Give one of: {', '.join(words)}."
            raise malformed("invalid_dimension", message)
        return text

    return Parameter(
        "dimension",
        "dimension",
        parse,
        "The dimension by which rows are grouped.",
        {"type": "string", "enum": list(words)},
        "invalid_dimension",
        required=True,
    )


SUBMISSION_CLOCK: Final = "submission"
ORDER_CLOCK: Final = "order"


def clock_of(default: str) -> Parameter:
    """The parameter `clock`, by which orders and revenue are dated."""

    def parse(texts: list[str]) -> str:
        text = one_text(texts, "clock", "invalid_clock")
        if text not in (None, SUBMISSION_CLOCK, ORDER_CLOCK):
            message = (
                f"`clock` is {quoted(text or '')}. Give `{SUBMISSION_CLOCK}` or `{ORDER_CLOCK}`."
            )
            raise malformed("invalid_clock", message)
        return text or default

    return Parameter(
        "clock",
        "clock",
        parse,
        "The clock of orders and revenue. `submission`: all that followed from the window's submissions, to "
        "date. `order`: the orders of the window.",
        {"type": "string", "enum": [ORDER_CLOCK, SUBMISSION_CLOCK], "default": default},
        "invalid_clock",
    )


def days_of(name: str, code: str) -> Callable[[list[str]], int | None]:
    """The parser of a number of days, at least 1."""

    def parse(texts: list[str]) -> int | None:
        text = one_text(texts, name, code)
        if text is None:
            return None
        digits = text.lstrip("0")
        # A number of a million digits is not converted.
        if not _DIGITS.fullmatch(text) or not 1 <= len(digits) <= _MAX_DIGITS:
            raise malformed(
                code, f"`{name}` is {quoted(text)}. Give a whole number of days, from 1."
            )
        return int(digits)

    return parse


def field(name: str, argument: str) -> Parameter:
    """A required parameter: the id of a field."""

    def parse(texts: list[str]) -> str:
        text = one_text(texts, name, "invalid_field")
        if text is None:
            raise malformed("invalid_field", f"`{name}` is missing. Give the id of a field.")
        return text

    return Parameter(
        name,
        argument,
        parse,
        "The id of a field of the form. `fieldA` and `fieldB` must differ.",
        {"type": "string", "minLength": 1},
        "invalid_field",
        required=True,
    )

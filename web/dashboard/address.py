"""The address of the page at hand: all of its state."""

from typing import Final
from urllib.parse import urlencode

from flask import request

# The longest query, in bytes, that the links of a page carry along. They are many, and each repeats it.
_MOST_BYTES: Final = 4_096


def carried() -> dict[str, str]:
    """The parameters of the page at hand; none of an address that is longer than any that pages lead to."""
    return request.args.to_dict() if len(request.query_string) <= _MOST_BYTES else {}


def address(**changes: str) -> str:
    """The page at hand with other values of some parameters; an empty one goes away.

    A list that is cut into pages begins again at its first one.
    """
    values = carried() | {"page": ""} | changes
    query = urlencode({name: value for name, value in values.items() if value})
    return f"{request.path}?{query}" if query else request.path

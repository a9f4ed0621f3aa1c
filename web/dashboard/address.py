"""The address of the page at hand: all of its state."""

from urllib.parse import urlencode

from flask import request


def address(**changes: str) -> str:
    """The page at hand with other values of some parameters; an empty one goes away.

    A list that is cut into pages begins again at its first one.
    """
    values = request.args.to_dict() | {"page": ""} | changes
    query = urlencode({name: value for name, value in values.items() if value})
    return f"{request.path}?{query}" if query else request.path

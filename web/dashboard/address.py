"""The address of the page at hand: all of its state."""

from urllib.parse import urlencode

from flask import request


def address(**changes: str) -> str:
    """The page at hand with other values of some parameters; an empty one goes away."""
    values = request.args.to_dict() | changes
    query = urlencode({name: value for name, value in values.items() if value})
    return f"{request.path}?{query}" if query else request.path

"""The form list's cursor: the place of the last form of a page.

A cursor is known as long as a form of the caller's shop stands at its place. Whatever else is given
as a cursor has no page, and never page one.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from urllib.parse import urlencode

from flask import request

from web.form_store import Position


def write_cursor(position: Position) -> str:
    created_at, form_id = position
    return urlsafe_b64encode(f"{created_at}/{form_id}".encode()).decode().rstrip("=")


def read_cursor(cursor: str) -> Position | None:
    """The place that a cursor names; None for a text that `write_cursor` did not write."""
    try:
        text = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)).decode()
        created_at, form_id = text.split("/")
        position = int(created_at), form_id
    except ValueError:
        return None
    # One spelling only; and a number that no instant has would not fit into a database's integer.
    if abs(position[0]) >= 2**62 or write_cursor(position) != cursor:
        return None
    return position


def next_link(cursor: str) -> str:
    """The value of `Link` that leads to the page of a cursor: the address of the request at hand, but
    for its cursor."""
    query = [(name, text) for name, text in request.args.items(multi=True) if name != "cursor"]
    return f'<{request.path}?{urlencode([*query, ("cursor", cursor)])}>; rel="next"'

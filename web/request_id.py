"""The id of the request at hand: in `meta`, in every error, in `X-Request-Id`, in the log."""

from flask import current_app, g

from web.uuid7 import uuid7


def request_id() -> str:
    """`req_` and a UUIDv7, made once per request."""
    known: str | None = g.get("request_id")
    if known is None:
        known = g.request_id = new_request_id(current_app.extensions["clock"]())
    return known


def new_request_id(now: int) -> str:
    """One for a request that comes at the instant `now`; all have the same length."""
    return f"req_{uuid7(now)}"

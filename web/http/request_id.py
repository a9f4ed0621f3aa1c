"""The id of a request: in `meta`, in every error, in `X-Request-Id`, in the log."""

import secrets
from uuid import UUID

from warehouse.domain.time import MICROS_PER_MS
from web.http.state import state


def request_id() -> str:
    """That of the request at hand."""
    return state().request_id


def new_request_id(now: int) -> str:
    """`req_` and a UUIDv7."""
    return f"req_{uuid7(now)}"


def uuid7(instant: int) -> UUID:
    """An id made at `instant` (microseconds): 48 bits of milliseconds, 74 random bits (RFC 9562, 5.7).
    Such ids sort by the time at which they were made."""
    number = (instant // MICROS_PER_MS) << 80 | secrets.randbits(80)
    number = number & ~(0xF << 76) | 0x7 << 76
    return UUID(int=number & ~(0x3 << 62) | 0x2 << 62)

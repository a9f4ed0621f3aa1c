"""Long answers are compressed (gzip) for clients that accept it.

Pages too: their one secret, the token of a form, is signed with every answer anew, and does not stand
still for someone who would guess it from how well a page compresses (BREACH).
"""

import gzip
from functools import lru_cache
from typing import Final

from flask import Response, request
from werkzeug.datastructures import Accept
from werkzeug.http import parse_accept_header

# Below, an answer fits into one packet, headers and all.
_MIN_BYTES: Final = 1_000
# A third of the time of level 6, for an eighth more bytes.
_LEVEL: Final = 3
_TYPES: Final = (
    "application/javascript",
    "application/json",
    "image/svg+xml",
    "text/css",
    "text/csv",
    "text/html",
    "text/javascript",
    "text/plain",
)
# A part of a file is one of its own bytes.
_WHOLE: Final = (200, 201)


def compress(response: Response) -> Response:
    """The answer to the request at hand, as its client takes it."""
    if "Accept-Encoding" not in response.headers.get("Vary", ""):
        response.vary.add("Accept-Encoding")
    if not _takes_gzip(request.headers.get("Accept-Encoding", "")):
        return response
    # A file that is sent, as a whole, so that it has a length.
    if response.is_streamed:
        response.direct_passthrough = False
        response.make_sequence()
    # Weak: the answer is the same, and its bytes are not.
    tag, is_weak = response.get_etag()
    if tag is not None and not is_weak:
        response.set_etag(tag, weak=True)
    is_packed = "Content-Encoding" in response.headers
    if response.mimetype in _TYPES and response.status_code in _WHOLE and not is_packed:
        content = response.get_data()
        if len(content) >= _MIN_BYTES:
            response.set_data(gzip.compress(content, _LEVEL, mtime=0))
            response.headers["Content-Encoding"] = "gzip"
    return response


# A client sends the same every time.
@lru_cache(maxsize=256)
def _takes_gzip(text: str) -> bool:
    accepted = parse_accept_header(text, Accept)
    return bool(0 < accepted["gzip"] >= dict(accepted).get("identity", 0))

"""Compression (gzip) of long answers, for clients that accept it.

Pages too: their one secret, the token of a form, is signed with every answer anew, and does not stand
still for someone who would guess it from how well a page compresses (BREACH).
"""

import struct
import zlib
from collections.abc import Callable
from typing import Final

from flask import Response, request
from werkzeug.datastructures import Accept
from werkzeug.http import parse_accept_header

from web.http.current_request import request_id

# Below, an answer fits into one packet, headers and all.
_MIN_BYTES: Final = 1_000
# A third of the time of level 6, for an eighth more bytes.
_LEVEL: Final = 3
# gzip (RFC 1952) begins with this, without a time, and ends with the CRC and the length of what is packed.
_BEGIN: Final = b"\x1f\x8b\x08" + bytes(5) + b"\x04\xff"
_END: Final = struct.Struct("<II")
# The most bytes of a block that is not compressed (RFC 1951, 3.2.4).
_MAX_STORED: Final = 0xFFFF
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
    accepted = parse_accept_header(request.headers.get("Accept-Encoding", ""), Accept)
    if not 0 < accepted["gzip"] >= dict(accepted).get("identity", 0):
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
            response.set_data(_pack(content, request_id().encode()))
            response.headers["Content-Encoding"] = "gzip"
    return response


def with_other_id(body: bytes, request_id: bytes, *, is_packed: bool) -> Callable[[bytes], bytes]:
    """A function from the id of another request to the body with that id."""
    before, _, after = body.partition(request_id)
    if not after:
        return lambda _: body
    if not is_packed:
        return lambda other: b"".join((before, other, after))
    tail, (crc, size) = after[: -_END.size], _END.unpack(after[-_END.size :])
    # The CRCs of texts of one length that begin alike differ by as much as those of what follows.
    crc ^= zlib.crc32(request_id + tail)

    def packed(other: bytes) -> bytes:
        end = _END.pack(crc ^ zlib.crc32(other + tail), size)
        return b"".join((before, other, tail, end))

    return packed


def _pack(content: bytes, request_id: bytes) -> bytes:
    """The content as gzip. The id of the request and what follows it lie as they are, so that `with_other_id`
    need not pack them again; unless there are too many bytes for that."""
    head = content.partition(request_id)[0]
    if len(content) - len(head) > _MAX_STORED:
        head = content
    tail = content[len(head) :]
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(head) + packer.flush(zlib.Z_SYNC_FLUSH)
    stored = struct.pack("<BHH", 1, len(tail), len(tail) ^ _MAX_STORED) + tail
    return b"".join((_BEGIN, packed, stored, _END.pack(zlib.crc32(content), len(content))))

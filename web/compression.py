"""Long answers are compressed (gzip) for clients that take it.

Pages too: their one secret, the token of a form, is signed anew every second, and does not stand still
for someone who would guess it from how well a page compresses (BREACH).
"""

import gzip
import zlib
from struct import Struct
from typing import Final

from flask import Response, request

from web.varying import vary_by

# Below, an answer fits into one packet, headers and all.
LEAST_BYTES: Final = 1_000
# Half the time of zlib's own choice (6), for an eighth more bytes: 0.4 ms for 70 kB of an answer.
_LEVEL: Final = 3
# The head of a last block that is stored, and the end of it all (RFC 1952, 2.3.1).
_STORED: Final = Struct("<BHH")
_END: Final = Struct("<LL")
_COMPRESSIBLE: Final = ("application/json", "image/svg+xml")


class Packed:
    """gzip of a text in whose middle there is always another one: what comes before is compressed
    once; the rest, which is short (less than 64 KiB), is a block of its own, as it is (RFC 1951, 3.2.4).
    """

    def __init__(self, before: bytes, after: bytes) -> None:
        stream = zlib.compressobj(_LEVEL, wbits=zlib.MAX_WBITS | 16)
        # To a whole byte, after which a block can start.
        self._start = stream.compress(before) + stream.flush(zlib.Z_SYNC_FLUSH)
        self._size, self._sum = len(before), zlib.crc32(before)
        self._after = after

    def around(self, middle: bytes) -> bytes:
        rest = middle + self._after
        block = _STORED.pack(1, len(rest), len(rest) ^ 0xFFFF)
        end = _END.pack(zlib.crc32(rest, self._sum), (self._size + len(rest)) & 0xFFFFFFFF)
        return b"".join((self._start, block, rest, end))


def compress(response: Response) -> Response:
    """The response as the request at hand wants it. Its entity tag becomes a weak one: it says that
    the answer is the same, not that its bytes are."""
    vary_by(response, "Accept-Encoding")
    is_long = (response.content_length or 0) >= LEAST_BYTES
    if not (is_long and _can_be_compressed(response) and _takes_gzip()):
        return response
    response.direct_passthrough = False
    # Without a time in it, so that the same answer has the same bytes.
    response.set_data(gzip.compress(response.get_data(), _LEVEL, mtime=0))
    response.content_encoding = "gzip"
    tag, weak = response.get_etag()
    if tag is not None and not weak:
        response.set_etag(tag, weak=True)
    return response


def _can_be_compressed(response: Response) -> bool:
    kind = response.mimetype or ""
    is_text = kind.startswith("text/") or kind in _COMPRESSIBLE
    return is_text and response.status_code in (200, 201) and not response.content_encoding


def _takes_gzip() -> bool:
    encodings = request.accept_encodings
    return encodings["gzip"] > 0 and encodings["gzip"] >= encodings["identity"]

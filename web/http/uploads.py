"""Forms with a file, read as they arrive: the fields before the file, then the file in pieces.

Such a body is too large for the memory and for the time of other bodies. It has a place of its own
(`http/admission.py`), and ends where it is slower than BYTES_A_SECOND: each piece has the time that the
server gives a body (`limits/connections.py`).
"""

from collections.abc import Iterator
from typing import IO, Final

from flask import request
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.sansio.multipart import Data, Epilogue, Event, Field, File, MultipartDecoder, NeedData

from web.http.errors import CODES, Refusal, malformed
from web.limits.connections import BODY_SECONDS

BYTES_A_SECOND: Final = 32_000
"""A file that comes more slowly than this, over BODY_SECONDS, is given up."""

TYPE: Final = "multipart/form-data"
_PIECE: Final = BYTES_A_SECOND * BODY_SECONDS
# Headers and fields before the file.
_MAX_FIELDS: Final = 16 * 1024
_MAX_PARTS: Final = 16


def fields_and_file(max_bytes: int) -> tuple[dict[str, str], str, Iterator[bytes]]:
    """The fields before the file, the file's name, and its content. Raises the 400, the 413 and the 415;
    reading the content raises the 400 and the 413."""
    boundary = request.mimetype_params.get("boundary", "")
    if request.mimetype != TYPE or not boundary:
        raise Refusal(415, CODES[415], f"A file comes as `{TYPE}`.")
    if (request.content_length or 0) > max_bytes + _MAX_FIELDS:
        raise too_large(max_bytes)
    events = _events(boundary.encode())
    fields: dict[str, str] = {}
    name, size = "", 0
    for event in events:
        if isinstance(event, File):
            return fields, event.filename or "", _content(events, max_bytes)
        if isinstance(event, Field):
            name = event.name
        elif isinstance(event, Data):
            size += len(event.data)
            if size > _MAX_FIELDS:
                break
            fields[name] = fields.get(name, "") + event.data.decode("utf-8", "replace")
    raise malformed("invalid_form", "The form has no file. Choose one, and send it again.")


def too_large(max_bytes: int) -> Refusal:
    return Refusal(
        413,
        CODES[413],
        f"The file is larger than {max_bytes // 10**6} MB (UPLOAD_MB), which is the most. Export "
        f"fewer days at once, "
        "or have whoever runs this service import it.",
    )


def _content(events: Iterator[Event], max_bytes: int) -> Iterator[bytes]:
    size = 0
    for event in events:
        if not isinstance(event, Data):
            break  # what comes after the file is of no consequence
        size += len(event.data)
        if size > max_bytes:
            raise too_large(max_bytes)
        yield event.data
        if not event.more_data:
            break


def _events(boundary: bytes) -> Iterator[Event]:
    """The parts of a form as they arrive. Raises the 400 where the body ends too early, or is no form."""
    # All but a file's content is held in memory until its end is found.
    decoder = MultipartDecoder(boundary, 2 * _PIECE, max_parts=_MAX_PARTS)
    # The body itself: `request.stream` holds as much as a small form may have.
    stream: IO[bytes] = request.environ["wsgi.input"]
    piece = b""
    while True:
        try:
            if piece:
                decoder.receive_data(piece)
                piece = b""
            event = decoder.next_event()
        except (ValueError, RequestEntityTooLarge):
            raise malformed("invalid_form", "The form is malformed. Send it again.") from None
        if isinstance(event, Epilogue):
            return
        if not isinstance(event, NeedData):
            yield event
            continue
        piece = stream.read(_PIECE)
        if not piece:
            raise malformed(
                "invalid_body",
                f"The file did not arrive whole, or came more slowly than {BYTES_A_SECOND // 1000} "
                f"kB a second. "
                "Nothing of it was kept. Send it again.",
            )

"""How bodies are read: few at once, and fairly.

The server waits for a body in the thread that reads it, for as long as the client takes. So a request whose
body cannot be read soon is refused (503) before any of it is read: the server would not go on while a body is
read whose request was answered.

Nobody gets more than half of the slots. A sender of bodies that never end, with a valid key too, stops no
writes but their own. Requests wait for a slot only while slots are given back: beside bodies that come
slowly, they would hold threads in vain.
"""

from collections.abc import Hashable
from io import BytesIO
from typing import IO, Final

from flask import Request
from werkzeug.utils import cached_property

from web.http.current_request import current_request
from web.http.errors import CODES, RETRY_SOON, Refusal, is_page, malformed
from web.server.slots import NoSlot, Slots

MAX_BYTES: Final = 1024 * 1024
MAX_FORM_BYTES: Final = 64 * 1024
"""The most of a form that a page sends."""


class BodyReader:
    """Reads `at_once` bodies, and lets `queued` requests wait; half of each for one sender at most."""

    def __init__(self, *, at_once: int, queued: int) -> None:
        self._slots = Slots(
            at_once, at_once // 2, seconds=0.5, queued=queued, queued_each=queued // 2
        )

    def read(self, stream: IO[bytes], sender: Hashable, max_bytes: int) -> bytes:
        """The body, or as much of it as shows that it is too large. Raises the 503."""
        try:
            with self._slots.hold(sender):
                return stream.read(max_bytes + 1)
        except NoSlot:
            message = "Too many request bodies are being received. Try again in a second."
            raise Refusal(503, CODES[503], message, RETRY_SOON) from None


def bounded_requests() -> type[Request]:
    """Requests of one process, whose bodies are read in turns. API and pages have a reader each, so that
    visitors without a key cannot take the turns of callers who have one."""
    of_api, of_pages = BodyReader(at_once=6, queued=4), BodyReader(at_once=2, queued=28)

    class BoundedRequest(Request):
        @cached_property
        def stream(self) -> IO[bytes]:
            caller = current_request().caller
            if is_page(self.path):
                body = of_pages.read(super().stream, self.remote_addr, MAX_FORM_BYTES)
            else:
                sender = caller.shop.key if caller else None
                body = of_api.read(super().stream, sender, MAX_BYTES)
            announced = self.content_length
            if announced is not None and len(body) < min(announced, MAX_BYTES):
                # Its client has closed the connection, at least the half that sends.
                raise malformed(
                    "invalid_body",
                    f"The body ended after {len(body)} of the {announced} bytes that its "
                    "`Content-Length` announces. Send it again.",
                )
            return BytesIO(body)

    return BoundedRequest

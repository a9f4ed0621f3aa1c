"""The reading of bodies: few at once, and fairly.

The server waits for a body in the thread that reads it, for as long as the client takes. So a request whose
body cannot be read soon is refused (503) before any of it is read: the server would not go on while a body is
read whose request was answered.

Nobody gets more than half of the slots, and only one slot where others hold half of them. A sender of bodies
that never end, with a valid key too, stops no writes but their own. Requests wait for a slot only while slots
are given back: beside bodies that come slowly, they would hold threads in vain.
"""

from collections.abc import Hashable
from io import BytesIO
from typing import IO, Final

from flask import Request
from werkzeug.utils import cached_property

from web.http.current_request import current_request
from web.http.errors import CODES, RETRY_SOON, Refusal, is_page, malformed
from web.limits.gcra import client_network
from web.limits.slots import NoSlot, Slots

MAX_BYTES: Final = 1024 * 1024
MAX_FORM_BYTES: Final = 64 * 1024
"""The most of a form that a page sends."""


class BodyReader:
    """A reader of `at_once` bodies, for which `queued` requests may wait; half of each for one sender at
    most."""

    def __init__(self, *, at_once: int, queued: int) -> None:
        half = at_once // 2
        self._slots = Slots(
            at_once, half, seconds=2.0, queued=queued, queued_each=queued // 2, shared=half
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
    """Requests of one process, whose bodies are read in turns. The API, members and strangers have a reader
    each, so that nobody without a key or a sign-in takes the turns of those who have one. All together leave
    threads to requests without a body."""
    of_api = BodyReader(at_once=24, queued=8)
    of_members = BodyReader(at_once=16, queued=8)
    of_strangers = BodyReader(at_once=32, queued=16)

    class BoundedRequest(Request):
        @cached_property
        def stream(self) -> IO[bytes]:
            current, stream = current_request(), super().stream
            if not is_page(self.path):
                sender = current.caller.shop.key if current.caller else None
                body = of_api.read(stream, sender, MAX_BYTES)
            elif current.known_shop is not None:
                body = of_members.read(stream, current.known_shop, MAX_FORM_BYTES)
            else:
                network = client_network(self.remote_addr or "")
                body = of_strangers.read(stream, network, MAX_FORM_BYTES)
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

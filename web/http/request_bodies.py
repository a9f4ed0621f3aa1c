"""How bodies are read: few at once, and fairly.

The server waits for a body in the thread that reads it, for as long as the client takes. So slow bodies
may hold less than half of the server's threads, and a request whose body cannot be read soon is refused
(503) before any of it is read: the server would not go on while a body is read whose request was answered.

Nobody gets more than half of the turns. A sender of bodies that never end, with a valid key too, stops no
writes but their own. Requests wait for a turn only while turns end: beside bodies that come slowly, they
would hold threads in vain.
"""

from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from io import BytesIO
from threading import Condition
from time import monotonic
from typing import IO, Final

from flask import Request
from werkzeug.utils import cached_property

from web.http.errors import CODES, Refusal, is_page, malformed
from web.http.state import services, state

MAX_BYTES: Final = 1024 * 1024

# How long a request waits for its turn.
_QUEUE_SECONDS: Final = 0.5


class Turns:
    """`at_once` turns, and `queued` requests that wait for one; half of each for one sender at most."""

    def __init__(self, *, at_once: int, queued: int) -> None:
        self._at_once, self._queued = at_once, queued
        self._taken: Counter[Hashable] = Counter()
        self._waiting: Counter[Hashable] = Counter()
        # When a turn of each sender that has one began or ended last.
        self._moved: dict[Hashable, float] = {}
        self._changed = Condition()

    @contextmanager
    def turn(self, sender: Hashable) -> Iterator[None]:
        """A turn during the block. Raises the 503 where there is none soon."""
        with self._changed:
            if not (self._has_room(self._taken, sender, self._at_once) or self._wait(sender)):
                raise _too_many()
            self._taken[sender] += 1
            self._moved[sender] = monotonic()
        try:
            yield
        finally:
            with self._changed:
                _subtract(self._taken, sender)
                self._moved[sender] = monotonic()
                if sender not in self._taken:
                    del self._moved[sender]
                self._changed.notify_all()

    def _wait(self, sender: Hashable) -> bool:
        """Wait for a turn; whether there is one."""
        if not self._has_room(self._waiting, sender, self._queued) or self._is_stuck(sender):
            return False
        self._waiting[sender] += 1
        try:
            return self._changed.wait_for(
                lambda: self._has_room(self._taken, sender, self._at_once), _QUEUE_SECONDS
            )
        finally:
            _subtract(self._waiting, sender)

    def _is_stuck(self, sender: Hashable) -> bool:
        """Whether none of the turns that the sender waits for has begun or ended for a while."""
        is_own = self._taken[sender] >= self._at_once // 2
        moved = self._moved[sender] if is_own else max(self._moved.values())
        return monotonic() - moved > _QUEUE_SECONDS

    @staticmethod
    def _has_room(used: Counter[Hashable], sender: Hashable, most: int) -> bool:
        return used.total() < most and used[sender] < most // 2


class BodyReader:
    """Reads bodies in turns; one per process. API and pages have a reader each, so that visitors without
    a key cannot take the turns of callers who have one."""

    def __init__(self, max_bytes: int, turns: Turns) -> None:
        self._max_bytes = max_bytes
        self._turns = turns

    def read(self, stream: IO[bytes], sender: Hashable) -> bytes:
        """The body, or as much of it as shows that it is too large. Raises the 503."""
        with self._turns.turn(sender):
            return stream.read(self._max_bytes + 1)


class BoundedRequest(Request):
    """A request whose body is read by a BodyReader."""

    @cached_property
    def stream(self) -> IO[bytes]:
        body = self._read()
        announced = self.content_length
        if announced is not None and len(body) < min(announced, MAX_BYTES):
            # Its client has closed the connection, at least the half that sends.
            raise malformed(
                "invalid_body",
                f"The body ended after {len(body)} of the {announced} bytes that its "
                "`Content-Length` announces. Send it again.",
            )
        return BytesIO(body)

    def _read(self) -> bytes:
        caller = state().caller
        if is_page(self.path):
            return services().page_bodies.read(super().stream, self.remote_addr)
        return services().api_bodies.read(super().stream, caller.shop.key if caller else None)


def _subtract(used: Counter[Hashable], sender: Hashable) -> None:
    used[sender] -= 1
    if not used[sender]:
        del used[sender]


def _too_many() -> Refusal:
    return Refusal(
        503,
        CODES[503],
        "Too many request bodies are being received. Try again in a second.",
        {"Retry-After": "1"},
    )

"""The threads of a process, and `Slots`, by which requests share what there is little of.

Python runs one thread at a time, and a connection to the database is another's until it is given back. So
requests hold slots, of which no sender has all. A request that finds none waits in its thread; when a slot is
given back, the sender that has the fewest is next, and of its requests the one that came first.
"""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock
from time import monotonic
from typing import Final

THREADS: Final = 128
"""Threads of one process that answer requests, started as they are needed. Most of them wait: for a slot, a
body, a lock."""

UPLOAD_THREADS: Final = 2
"""Threads beside them for files that arrive, each for minutes."""

READS: Final = 8
WRITES: Final = 8
SIGN_INS: Final = 3
"""Requests of one process that work at once; each has a connection to the database."""

LOOK_UPS: Final = 4
"""Requests beside them of which one asks at a time whether its answer is still known; they have threads and
connections of their own."""


class NoSlot(Exception):
    """No slot will be free soon. `is_own`: the sender itself holds as many as one sender may."""

    def __init__(self, *, is_own: bool) -> None:
        super().__init__()
        self.is_own = is_own


@dataclass(eq=False, slots=True)
class _Waiting:
    """A request that waits, and the event that it has a slot."""

    sender: Hashable
    has_slot: Event = field(default_factory=Event)


class Slots:
    """Slots that requests hold while they work: `total`, of which one sender holds at most `each`, and only
    one while `shared` are held by all. `queued` requests may wait, of one sender at most `queued_each`.

    A request waits while slots are given back: it is refused, and so are the next ones at once, when nobody
    has taken or given back one of those that it waits for within `seconds`.
    """

    def __init__(
        self,
        total: int,
        each: int,
        *,
        seconds: float,
        queued: int = THREADS,
        queued_each: int = THREADS,
        shared: int | None = None,
    ) -> None:
        self._total, self._each = total, each
        self._shared = total if shared is None else shared
        self._queued, self._queued_each = queued, queued_each
        self._seconds = seconds
        self._lock = Lock()
        self._in_all = 0
        self._held: dict[Hashable, int] = {}
        # When each sender that holds slots took or gave back one last.
        self._moved: dict[Hashable, float] = {}
        self._waiting: list[_Waiting] = []

    @contextmanager
    def hold(self, sender: Hashable) -> Iterator[None]:
        """Hold a slot during the block. Raises NoSlot."""
        self.take(sender)
        try:
            yield
        finally:
            self.give_back(sender)

    def take(self, sender: Hashable) -> None:
        """Take a slot, which the sender holds until `give_back`. Raises NoSlot."""
        with self._lock:
            if self._is_free(sender):
                self._grant(sender)
                return
            of_sender = sum(waiting.sender == sender for waiting in self._waiting)
            is_full = len(self._waiting) >= self._queued or of_sender >= self._queued_each
            if is_full or self._patience(sender) <= 0:
                raise self._none(sender)
            own = _Waiting(sender)
            self._waiting.append(own)
            patience = self._patience(sender)
        while not own.has_slot.wait(patience):
            with self._lock:
                patience = self._patience(sender)
                if patience <= 0 and not own.has_slot.is_set():
                    self._waiting.remove(own)
                    raise self._none(sender)

    def give_back(self, sender: Hashable) -> None:
        with self._lock:
            self._in_all -= 1
            self._held[sender] -= 1
            self._moved[sender] = monotonic()
            if not self._held[sender]:
                del self._held[sender], self._moved[sender]
            # One slot may let two in: one that it was taken from, and one that too many had kept out.
            while free := [one for one in self._waiting if self._is_free(one.sender)]:
                next_one = min(free, key=lambda one: self._held.get(one.sender, 0))
                self._waiting.remove(next_one)
                self._grant(next_one.sender)
                next_one.has_slot.set()

    def _grant(self, sender: Hashable) -> None:
        self._in_all += 1
        self._held[sender] = self._held.get(sender, 0) + 1
        self._moved[sender] = monotonic()

    def _is_free(self, sender: Hashable) -> bool:
        held = self._held.get(sender, 0)
        has_more = held < self._each and self._in_all < self._shared
        return self._in_all < self._total and (not held or has_more)

    def _patience(self, sender: Hashable) -> float:
        """Seconds that a request of the sender may still wait."""
        is_own = self._held.get(sender, 0) >= self._each
        moved = self._moved[sender] if is_own else max(self._moved.values())
        return moved + self._seconds - monotonic()

    def _none(self, sender: Hashable) -> NoSlot:
        return NoSlot(is_own=self._held.get(sender, 0) >= self._each)

"""A probe: a question to the warehouse that must be answered soon, whatever the warehouse does.

A database that is stuck may keep a caller for as long as it likes. So a thread beside the requests asks,
one at a time, and a request waits for it only for a moment.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from threading import Lock, Thread
from time import monotonic
from typing import Any, Final, Generic, TypeVar

Answer = TypeVar("Answer")

# From the question to the answer, so that a monitor has its own within a second.
_SECONDS: Final = 0.8
# At the end of a process, for what is still being asked.
_LAST_SECONDS: Final = 5


class Probe(Generic[Answer]):
    """A thread that asks with `ask`. A process has one. Requests that come while it asks share the answer."""

    def __init__(self, ask: Callable[[], Answer]) -> None:
        self._ask = ask
        self._lock = Lock()
        self.answer: Future[Answer] | None = None
        self.last: Answer | None = None
        """The last answer; None before the first."""
        self._asked_at = 0.0

    def begin(self) -> Callable[[], Answer]:
        """Begin to ask. Returns a function that waits for the result of `ask`, or its error. That raises
        TimeoutError where it takes too long, and at once for as long as it goes on."""

        def ask(answer: Future[Answer]) -> None:
            try:
                self.last = self._ask()
                answer.set_result(self.last)
            except Exception as error:
                answer.set_exception(error)

        with self._lock:
            if self.answer is None or self.answer.done():
                self.answer, self._asked_at = Future(), monotonic()
                # A daemon: a process does not wait for it at its end.
                Thread(target=ask, args=(self.answer,), name="probe", daemon=True).start()
            answer, deadline = self.answer, self._asked_at + _SECONDS
        return lambda: answer.result(max(deadline - monotonic(), 0))


def settle(probes: Iterable[Probe[Any]]) -> None:
    """Wait for what is still being asked, so that its connections are back before the pool closes them; at
    most 5 s, for a database that is stuck."""
    wait([probe.answer for probe in probes if probe.answer], timeout=_LAST_SECONDS)

"""Seconds by phase of the run in hand: time goes to a phase from its name until the next one's."""

import time
from contextvars import ContextVar


class Stopwatch:
    """`seconds`: by phase, up to the last change of phase."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds
        self._phase, self._since = "start", time.monotonic()

    def enter(self, name: str) -> None:
        now = time.monotonic()
        self.seconds[self._phase] = self.seconds.get(self._phase, 0) + now - self._since
        self._phase, self._since = name, now


running: ContextVar[Stopwatch | None] = ContextVar("running", default=None)


def phase(name: str) -> None:
    """From here on, time belongs to this phase of the run (nothing where none is recorded)."""
    stopwatch = running.get()
    if stopwatch is not None:
        stopwatch.enter(name)

"""Seconds by phase of the current run: time counts for a phase until the next one begins."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class _Stopwatch:
    def __init__(self, seconds: dict[str, float]) -> None:
        self._seconds = seconds
        self._phase, self._since = "start", time.monotonic()

    def enter(self, name: str) -> None:
        now = time.monotonic()
        self._seconds[self._phase] = self._seconds.get(self._phase, 0) + now - self._since
        self._phase, self._since = name, now


_current: ContextVar[_Stopwatch | None] = ContextVar("_current", default=None)


@contextmanager
def measured(seconds: dict[str, float]) -> Iterator[None]:
    """Add the seconds of each phase of the block to `seconds`, up to the last call of `phase`."""
    token = _current.set(_Stopwatch(seconds))
    try:
        yield
    finally:
        _current.reset(token)


def phase(name: str) -> None:
    """Count the time from here on for this phase. Outside of a run, and in threads that a run has
    started, this does nothing."""
    stopwatch = _current.get()
    if stopwatch is not None:
        stopwatch.enter(name)

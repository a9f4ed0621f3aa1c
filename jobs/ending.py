"""SIGTERM and SIGINT: noted at once, heeded at the next point where nothing is half done."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

from adbc_driver_manager import dbapi

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class Stopped(Exception):
    """This process was told to end; what it had finished is kept."""


class Ending:
    """`asked` is the number of the signal that came, 0 before; `fileno` can be read from then on.

    The file tells a thread, also while the main thread is inside the database and cannot be told.
    """

    def __init__(self) -> None:
        self.asked = 0
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._writing, False)

    def fileno(self) -> int:
        return self._reading

    def heed(self) -> int:
        """The signal that came; to be called once the file can be read."""
        for number in os.read(self._reading, 64):
            self.asked = self.asked or number
        return self.asked

    def wake(self) -> None:
        """Have a thread that waits for the file look up."""
        os.write(self._writing, b"\0")

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.asked = self.asked or number


@contextmanager
def ending() -> Iterator[Ending]:
    """Note the signals until the end of the block (where it is the main thread that enters it)."""
    state = Ending()
    try:
        if threading.current_thread() is threading.main_thread():
            with _handled_by(state):
                yield state
        else:
            yield state
    finally:
        os.close(state._reading)
        os.close(state._writing)


def _plainly(
    function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any], _cancel: object
) -> Any:
    """In place of ADBC's own way to call, which takes SIGINT for itself: it cancels the statement in
    hand, or nothing where there is none any more."""
    return function(*args, **options)


@contextmanager
def _handled_by(state: Ending) -> Iterator[None]:
    earlier = {number: signal.signal(number, state._note) for number in SIGNALS}
    wakeup = signal.set_wakeup_fd(state._writing, warn_on_full_buffer=False)
    blocking = vars(dbapi)["_blocking_call"]
    vars(dbapi)["_blocking_call"] = _plainly
    try:
        yield
    finally:
        vars(dbapi)["_blocking_call"] = blocking
        signal.set_wakeup_fd(wakeup)
        for number, handler in earlier.items():
            signal.signal(number, handler)

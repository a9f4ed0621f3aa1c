"""SIGTERM and Ctrl-C: a command stops at its next safe point, or is ended after GRACE_SECONDS.

The command runs in a second thread. The main thread only waits for the command's end or for a
signal, so that it sees a signal at once, even while the command waits for the database. (The
database driver also replaces the handler of SIGINT while the main thread runs a statement.)
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from select import select
from threading import Event, Thread
from typing import Final, NoReturn

from jobs.run.console import say

# From the signal until the process ends, if the current batch has not been finished by then.
GRACE_SECONDS: Final = 7.0
# The time that `give_up` may take after that.
_GIVE_UP_SECONDS: Final = 1.0
# Between two looks whether the block has ended.
_LOOK_SECONDS: Final = 0.05
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_ENDED: Final = 0


class Stopped(BaseException):
    """A signal asked this process to stop. A BaseException, as KeyboardInterrupt is: code that
    handles the failure of a batch must not take it for one."""

    def __init__(self, number: int) -> None:
        self.signal = signal.Signals(number)
        super().__init__(f"stopped by {self.signal.name}")


@dataclass
class _State:
    """`number` is the signal that came, 0 before. Without a `give_up`, a signal ends the process at
    once; with one, after so many seconds."""

    number: int = 0
    give_up: Callable[[], None] | None = None
    seconds: float = GRACE_SECONDS


_state = _State()
_signalled = Event()


def raise_if_stopped() -> None:
    """To be called where nothing is half done. Raises Stopped after a signal."""
    if _state.number:
        raise Stopped(_state.number)


def stop_in_time(number: int = signal.SIGTERM) -> None:
    """Ask the block of `graceful_stop` to stop, as this signal would; returns once it has ended or its
    time is over. For processes whose main thread belongs to another program."""
    _state.number = number
    _signalled.set()
    deadline = time.monotonic() + _state.seconds
    while (give_up := _state.give_up) is not None:
        if time.monotonic() > deadline:
            give_up()
            return
        time.sleep(_LOOK_SECONDS)


def pause(seconds: float) -> None:
    """Wait so long, where nothing is half done. Raises Stopped after a signal."""
    _signalled.wait(seconds)
    raise_if_stopped()


def wait_for_signal() -> None:
    """Wait until a signal asks this process to stop."""
    _signalled.wait()


@contextmanager
def graceful_stop(give_up: Callable[[], None], seconds: float = GRACE_SECONDS) -> Iterator[None]:
    """During the block a signal does not end the process at once: the block has so many seconds to
    reach `raise_if_stopped`. After them `give_up` is called, in another thread, and the process
    ends; the database then rolls the transaction back. A block may have another in it."""
    outer, outer_seconds = _state.give_up, _state.seconds

    def give_up_all() -> None:
        give_up()
        if outer is not None:
            outer()

    _state.give_up, _state.seconds = give_up_all, seconds
    try:
        yield
    finally:
        _state.give_up, _state.seconds = outer, outer_seconds


def run_interruptibly(command: Callable[[], object]) -> int:
    """Run a command to its end in a second thread; to be called in the main thread. Returns the exit
    status; ends the process if a signal came and the command does not stop in time."""
    # Python writes the number of each signal there. To wait for a handler is not enough: the system may give
    # a signal to another thread, and the main thread would sleep on.
    events, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told)
    for number in _SIGNALS:
        signal.signal(number, lambda *_: None)
    status = 1

    def work() -> None:
        nonlocal status
        try:
            command()
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
        finally:
            os.write(told, bytes([_ENDED]))

    thread = Thread(target=work, daemon=True)
    thread.start()
    received = os.read(events, 1)[0]
    if received != _ENDED:
        _stop(received, events)
    thread.join()
    return status


def _stop(number: int, events: int) -> None:
    """Return when the command has ended, or end the process."""
    give_up = _state.give_up
    if give_up is None:
        end_process(128 + number)
    say(f"{signal.Signals(number).name} received: stopping after the current batch")
    deadline = time.monotonic() + _state.seconds
    _state.number = number
    _signalled.set()
    while select([events], [], [], max(deadline - time.monotonic(), 0))[0]:
        if os.read(events, 1)[0] == _ENDED:
            return
    say(
        f"the current batch takes longer than {_state.seconds:.0f} s: it is rolled back, "
        "and the next run does it again"
    )
    last = Thread(target=give_up, daemon=True)
    last.start()
    last.join(_GIVE_UP_SECONDS)
    end_process(128 + number)


def end_process(status: int) -> NoReturn:
    """End the process at once. Python would take apart all that it has loaded first, which takes a short
    command a fifth of its time."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    os._exit(status)

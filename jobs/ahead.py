"""Work ahead: the next portion is read and checked while the one before it is being written."""

import gc
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from queue import Queue
from threading import Event, Thread
from typing import TypeVar

T = TypeVar("T")


def ahead(items: Iterable[T]) -> Generator[T, None, None]:
    """The same items, made in another thread, at most two of them ahead. What is raised there is
    raised here; when this is left early, the thread stops at its next item."""
    ready: Queue[tuple[T | None, BaseException | None]] = Queue(maxsize=1)
    left = Event()

    def make() -> None:
        failure: BaseException | None = None
        try:
            for item in items:
                ready.put((item, None))
                if left.is_set():
                    return
        except BaseException as error:
            failure = error
        ready.put((None, failure))

    thread = Thread(target=make, daemon=True)
    thread.start()
    try:
        while True:
            item, failure = ready.get()
            if failure is not None:
                raise failure
            if item is None:
                return
            yield item
    finally:
        left.set()
        while thread.is_alive():
            # A thread that waits to hand over its item must be let go.
            if not ready.empty():
                ready.get_nowait()
            thread.join(0.01)


@contextmanager
def without_collection() -> Iterator[None]:
    """Without Python's search for cycles: rows are many small objects that have none, and looking for
    some takes as long as decoding them. What has cycles all the same goes at the end."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()

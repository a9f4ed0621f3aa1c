"""The next portions are read while the one before them is worked on and written."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from threading import local
from typing import Final, Self

from jobs import pipeline
from warehouse.bulk import Bulk
from warehouse.editions import Edition
from warehouse.queue import Batch

# Portions that are read at once, each over a connection of its own: to read takes longer than to
# work on what was read, and most of it is the driver's, which lets other threads go on.
READERS: Final = 2


class ReadAhead:
    """Portions that are being read, or have been, in the order in which they are to be taken in."""

    def __init__(self, bulk: Bulk) -> None:
        self._bulk = bulk
        self._own = local()
        self._opened: list[Bulk] = []
        self._pool = ThreadPoolExecutor(READERS)
        self._begun: deque[tuple[list[Batch], Future[pipeline.Reading]]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        for bulk in self._opened:
            bulk.close()

    @property
    def begun(self) -> list[list[Batch]]:
        """The portions that are to be taken in next."""
        return [batches for batches, _ in self._begun]

    def reading(
        self, portions: list[list[Batch]], held: list[Edition]
    ) -> Callable[[], pipeline.Reading]:
        """What gives the first portion's reading, and raises what that raised. The others are read
        meanwhile, to be taken in in this order; what was begun and is not among them is not wanted."""
        if not self._begun and len(portions) == 1:
            # Not worth a connection.
            return partial(pipeline.read, self._bulk, held, portions[0])
        if self.begun != portions[: len(self._begun)]:
            for _, future in self._begun:
                future.cancel()
            self._begun.clear()
        for batches in portions[len(self._begun) :]:
            self._begun.append((batches, self._pool.submit(self._read, batches, held)))
        _, first = self._begun.popleft()
        return first.result

    def _read(self, batches: list[Batch], held: list[Edition]) -> pipeline.Reading:
        bulk: Bulk | None = getattr(self._own, "bulk", None)
        if bulk is None:
            bulk = self._own.bulk = self._bulk.another()
            self._opened.append(bulk)
        try:
            return pipeline.read(bulk, held, batches)
        except BaseException:
            bulk.rollback()
            raise

"""The next portion is read while the one before it is worked on and written."""

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

from jobs import pipeline
from warehouse.bulk import Bulk
from warehouse.editions import Edition
from warehouse.queue import Batch


class ReadAhead:
    """At most one portion that is being read, or has been, in a thread and over a connection of its
    own; `planned` are its batches, the ones to take in next."""

    def __init__(self, bulk: Bulk) -> None:
        self._bulk = bulk
        self._reader: Bulk | None = None
        self._pool = ThreadPoolExecutor(1)
        self._future: Future[pipeline.Reading] | None = None
        self.planned: list[Batch] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        if self._reader:
            self._reader.close()

    def begin(self, batches: list[Batch], held: list[Edition]) -> None:
        """Begin to read a portion (nothing, where there are no batches)."""
        self.planned, self._future = batches, None
        if batches:
            self._future = self._pool.submit(self._read, batches, held)

    def reading(self, batches: list[Batch], held: list[Edition]) -> pipeline.Reading:
        """What these batches say: as read ahead, else read now. Raises what reading raises."""
        if self._future and batches == self.planned:
            future, self._future = self._future, None
            return future.result()
        return pipeline.read(self._bulk, held, batches)

    def _read(self, batches: list[Batch], held: list[Edition]) -> pipeline.Reading:
        if self._reader is None:
            self._reader = self._bulk.another()
        try:
            return pipeline.read(self._reader, held, batches)
        except BaseException:
            self._reader.rollback()
            raise

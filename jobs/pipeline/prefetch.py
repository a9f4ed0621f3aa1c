"""The next group of batches is read while the one before it is applied."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Self

from jobs.pipeline import apply_batch
from jobs.pipeline.apply_batch import BatchGroup
from warehouse.connections.arrow import ArrowConnection
from warehouse.editions.editions import Edition
from warehouse.editions.pending_batches import Batch


class Prefetch:
    """Groups of batches that are being read or have been, in the order in which they will be applied.

    One thread reads, over a connection of its own: that takes less time than to apply what it has read.
    """

    def __init__(self, connection: ArrowConnection) -> None:
        self._connection = connection
        self._second: ArrowConnection | None = None
        self._pool = ThreadPoolExecutor(1)
        self._started: deque[tuple[list[Batch], Future[BatchGroup]]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._close()

    @property
    def started(self) -> list[list[Batch]]:
        """The groups whose reading has begun, except those that were returned already."""
        return [batches for batches, _ in self._started]

    def reader(self, groups: list[list[Batch]], held: list[Edition]) -> Callable[[], BatchGroup]:
        """A function that returns the first group, or raises what reading it raised.

        The other groups are read meanwhile. Groups that were started and are not among these are
        dropped.
        """
        if not self._started and len(groups) == 1:
            # A second connection would cost more than it gains.
            return partial(apply_batch.read, self._connection, held, groups[0])
        if self.started != groups[: len(self._started)]:
            self.drop()
        for number in range(len(self._started), len(groups)):
            earlier = [batch for group in groups[:number] for batch in group]
            future = self._pool.submit(self._read, groups[number], held, earlier)
            self._started.append((groups[number], future))
        _, first = self._started.popleft()
        return first.result

    def drop(self) -> None:
        """Forget the groups whose reading has begun."""
        for _, future in self._started:
            future.cancel()
        self._started.clear()

    def end(self) -> None:
        """Close the second connection, until there is something to read again: a job has three at most."""
        self.drop()
        self._pool.submit(self._close).result()

    def _close(self) -> None:
        if self._second is not None:
            self._second.close()
            self._second = None

    def _read(self, batches: list[Batch], held: list[Edition], earlier: list[Batch]) -> BatchGroup:
        if self._second is None:
            self._second = self._connection.second_connection()
        try:
            return apply_batch.read(self._second, held, batches, earlier)
        except BaseException:
            self._second.rollback()
            raise

"""The next groups of batches are read while the one before them is applied."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from threading import local
from typing import Final, Self

from jobs.pipeline import apply_batch
from jobs.pipeline.apply_batch import BatchGroup
from warehouse.connections.arrow import ArrowConnection
from warehouse.editions.editions import Edition
from warehouse.editions.pending_batches import Batch

# Groups that are read at the same time, each over a connection of its own. Most of reading is the
# database driver's work, which lets other threads run.
READERS: Final = 2


class Prefetch:
    """Groups of batches that are being read or have been, in the order in which they will be applied."""

    def __init__(self, connection: ArrowConnection, readers: int) -> None:
        self._connection = connection
        self._thread = local()
        self._opened: list[ArrowConnection] = []
        self._pool = ThreadPoolExecutor(readers)
        self._started: deque[tuple[list[Batch], Future[BatchGroup]]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        for connection in self._opened:
            connection.close()

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

    def _read(self, batches: list[Batch], held: list[Edition], earlier: list[Batch]) -> BatchGroup:
        connection: ArrowConnection | None = getattr(self._thread, "connection", None)
        if connection is None:
            connection = self._thread.connection = self._connection.second_connection()
            self._opened.append(connection)
        try:
            return apply_batch.read(connection, held, batches, earlier)
        except BaseException:
            connection.rollback()
            raise

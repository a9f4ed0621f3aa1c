"""The heartbeat of a run: a thread that renews its leases and its record, and tells who blocks it.

It has a connection of its own, since the run's may be in the middle of a long statement. Its failures
do not stop the run: a lease that could not be renewed is found lost at the next write.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Final

from warehouse.connections.arrow import ArrowConnection, open_arrow
from warehouse.editions import leases
from warehouse.operations import job_runs

_LOOK_SECONDS: Final = 2.0
# Well below the two minutes that a lease lasts.
_RENEW_SECONDS: Final = 20.0
# The database may have stopped answering.
_LONGEST_STOP_SECONDS: Final = 2.0


@contextmanager
def beating(beat: Callable[[Event], object]) -> Iterator[None]:
    """Runs `beat` in a thread until the end of the block, which sets the event that it gets."""
    over = Event()
    thread = Thread(target=beat, args=(over,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(_LONGEST_STOP_SECONDS)


class Heartbeat:
    """`with beating(Heartbeat(...).beat)`.

    `server_pid` is the process of PostgreSQL that serves the run (None on SQLite); `on_lock_wait` is
    called with the name ("host:pid") of a process that blocks it.
    """

    def __init__(
        self,
        url: str,
        record: job_runs.Record,
        server_pid: int | None,
        on_lock_wait: Callable[[str], None],
    ) -> None:
        self._url, self._record, self._server_pid = url, record, server_pid
        self._on_lock_wait = on_lock_wait
        self._renewed_at = time.monotonic()

    def beat(self, over: Event) -> None:
        while not over.wait(_LOOK_SECONDS):
            with suppress(Exception), open_arrow(self._url, wait_for_locks=False) as connection:
                while not over.wait(_LOOK_SECONDS):
                    self._tell_blocker(connection)
                    self._renew(connection)

    def _tell_blocker(self, connection: ArrowConnection) -> None:
        if self._server_pid is not None:
            blocker = connection.blocker(self._server_pid)
            connection.commit()
            if blocker is not None:
                self._on_lock_wait(blocker)

    def _renew(self, connection: ArrowConnection) -> None:
        if time.monotonic() - self._renewed_at > _RENEW_SECONDS:
            now = connection.now_micros()
            leases.renew(connection, self._record.owner, now)
            if self._record.run_id:
                job_runs.update(connection, self._record, now)
            self._renewed_at = time.monotonic()

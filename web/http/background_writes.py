"""Writes beside the requests: small ones that no request should wait for, or fail with.

A thread of its own makes them, since a write may have to wait for another's lock. A write that fails is
dropped, and so is one that comes while too many wait.
"""

from collections.abc import Callable
from contextlib import suppress
from queue import Full, Queue
from threading import Lock, Thread
from typing import Final

from sqlalchemy import Connection, update
from sqlalchemy.exc import SQLAlchemyError

from warehouse.domain.time import MICROS_PER_SECOND
from warehouse.tables import api_key
from web.db.database import Database
from web.http.request_log import log_failure

LAST_USE_INTERVAL: Final = 60 * MICROS_PER_SECOND

# Writes that wait for their turn.
_QUEUED: Final = 1_000

# Writes by a connection, and leaves the commit to the caller.
Write = Callable[[Connection], object]


class BackgroundWrites:
    """The writes that wait for the thread. A process has one object; the thread starts with the first
    write."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queue: Queue[Write | None] = Queue(_QUEUED)
        self._starting = Lock()
        self._thread: Thread | None = None
        # When each key was used last, of the uses that were recorded.
        self._used: dict[str, int] = {}

    def record_use(self, credential_id: str, last_used_at: int, now: int) -> None:
        """Record a use of a key at the instant `now`, at most once a minute; the warehouse says
        `last_used_at`. A write that was dropped is made up for by the key's next use, a minute later."""
        if now - max(last_used_at, self._used.get(credential_id, 0)) < LAST_USE_INTERVAL:
            return
        self._used[credential_id] = now
        is_older = api_key.c.last_used_at < now
        used = update(api_key).where(api_key.c.credential_id == credential_id, is_older)
        self.write(lambda connection: connection.execute(used.values(last_used_at=now)))

    def write(self, write: Write) -> None:
        with suppress(Full):
            self._queue.put_nowait(write)
        with self._starting:
            if self._thread is None:
                self._thread = Thread(target=self._work, name="background writes", daemon=True)
                self._thread.start()

    def settle(self) -> None:
        """Wait until what is left is written."""
        self._queue.join()

    def stop(self) -> None:
        """Write what is left, and end the thread; wait at most 5 s for another's lock. A later write starts
        another thread."""
        with self._starting:
            thread, self._thread = self._thread, None
        if thread is not None:
            with suppress(Full):
                self._queue.put_nowait(None)
                thread.join(timeout=5)

    def _work(self) -> None:
        while True:
            write = self._queue.get()
            try:
                if write is None:
                    return
                with self._database.write() as connection:
                    write(connection)
                    connection.commit()
            except SQLAlchemyError:
                continue
            except Exception as error:
                # The thread goes on: without it the audit trail would stop in silence.
                log_failure("", error)
            finally:
                self._queue.task_done()

"""Writes beside the requests: small ones that no request should wait for, or fail with.

A thread of its own makes them, since a write may have to wait for another's lock. What cannot be
written is dropped.
"""

from queue import SimpleQueue
from threading import Lock, Thread

from sqlalchemy import Update
from sqlalchemy.exc import SQLAlchemyError

from web.database import Database


class Later:
    """One per process; the thread starts with the first write (after a server has forked)."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queue: SimpleQueue[Update | None] = SimpleQueue()
        self._starting = Lock()
        self._thread: Thread | None = None

    def write(self, statement: Update) -> None:
        self._queue.put(statement)
        with self._starting:
            if self._thread is None:
                self._thread = Thread(target=self._work, name="later", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """Write what is left, and end the thread; do not wait long for another's lock."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join(timeout=5)

    def _work(self) -> None:
        while (statement := self._queue.get()) is not None:
            try:
                with self._database.write() as connection:
                    connection.execute(statement)
                    connection.commit()
            except SQLAlchemyError:
                continue

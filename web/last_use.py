"""When a key was last used: recorded at most once a minute, beside the request.

A thread of its own writes, so that no request waits for another's write lock, or fails with it.
What cannot be written is dropped: the key's next use, a minute later, tries again.
"""

from queue import SimpleQueue
from threading import Lock, Thread
from typing import Final

from sqlalchemy import update
from sqlalchemy.exc import SQLAlchemyError

from warehouse.days import MICROS_PER_SECOND
from warehouse.tables import api_key
from web.callers import Caller
from web.database import Database

INTERVAL: Final = 60 * MICROS_PER_SECOND


class LastUse:
    """One per process; the thread starts with the first use (after a server has forked)."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._noted: dict[str, int] = {}
        self._queue: SimpleQueue[tuple[str, int] | None] = SimpleQueue()
        self._starting = Lock()
        self._thread: Thread | None = None

    def note(self, caller: Caller, now: int) -> None:
        """Record that the key was used at the instant `now`."""
        known = max(caller.last_used_at, self._noted.get(caller.credential_id, 0))
        if now - known < INTERVAL:
            return
        self._noted[caller.credential_id] = now
        self._queue.put((caller.credential_id, now))
        with self._starting:
            if self._thread is None:
                self._thread = Thread(target=self._write, name="last-use", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """Write what is noted, and end the thread; do not wait long for another's lock."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join(timeout=5)

    def _write(self) -> None:
        while noted := self._queue.get():
            credential_id, now = noted
            statement = (
                update(api_key)
                .where(api_key.c.credential_id == credential_id, api_key.c.last_used_at < now)
                .values(last_used_at=now)
            )
            try:
                with self._database.write() as connection:
                    connection.execute(statement)
                    connection.commit()
            except SQLAlchemyError:
                continue

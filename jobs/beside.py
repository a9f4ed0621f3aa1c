"""The threads beside a job: one ends it in time when it is told to, one keeps its leases.

The keeper has a connection of its own, since the job's may be in the middle of a long statement.
Nothing that happens here stops the job: a lease that could not be renewed is found lost at the next
write, and a record that could not be written is a record less.
"""

import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Final

from jobs.clock import now_micros
from jobs.ending import Ending
from jobs.telling import say
from warehouse import edition_leases, leases, runs
from warehouse.bulk import Bulk, open_bulk

# Between two looks at what the job waits for; between two renewals of a lease of two minutes.
_LOOK_SECONDS: Final = 2.0
_RENEW_SECONDS: Final = 20.0
# From the signal until the batch in hand is given up; and for the last words.
_GRACE_SECONDS: Final = 7.0
_LAST_SECONDS: Final = 1.0

_BLOCKERS: Final = """
SELECT application_name FROM pg_stat_activity WHERE pid = ANY(pg_blocking_pids(CAST($1 AS INTEGER))) LIMIT 1
"""


@contextmanager
def ended_in_time(ending: Ending, url: str, record: runs.Record) -> Iterator[None]:
    """Once told to end, the block has some seconds left; then the process ends in the middle of it.

    Its transaction is undone by the database, and its leases are those of a dead process.
    """
    over = Event()

    def watch() -> None:
        select.select([ending], [], [])
        if over.is_set():
            return
        say(f"{signal.Signals(ending.heed()).name}: ending after the batch in hand")
        if not over.wait(_GRACE_SECONDS):
            say("the batch in hand takes too long: it is undone, and left for the next run")
            record.error = "ended in the middle of a batch"
            last = Thread(target=_write_last, args=[url, record], daemon=True)
            last.start()
            last.join(_LAST_SECONDS)
            os._exit(128 + ending.asked)

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        ending.wake()
        thread.join()


def _write_last(url: str, record: runs.Record) -> None:
    with suppress(Exception), open_bulk(url, patient=False) as bulk:
        runs.update(bulk, record, now_micros(), runs.STOPPED)


@contextmanager
def kept_alive(
    url: str, record: runs.Record, backend: int | None, waiting: Callable[[str], None]
) -> Iterator[None]:
    """During the block, the leases of this process are renewed, its record is kept up to date, and
    `waiting` is told for whom the connection of PostgreSQL's `backend` waits."""
    over = Event()

    def look(bulk: Bulk, backend: int) -> None:
        blocker = bulk.value(_BLOCKERS, backend)
        bulk.commit()
        if blocker is not None:
            waiting(blocker)

    def renew(bulk: Bulk) -> None:
        edition_leases.renew(bulk, now_micros())
        leases.renew(bulk, now_micros())
        if record.run_id:
            runs.update(bulk, record, now_micros())

    def keep() -> None:
        renewed = time.monotonic()
        while not over.wait(_LOOK_SECONDS):
            with suppress(Exception), open_bulk(url, patient=False) as bulk:
                while not over.wait(_LOOK_SECONDS):
                    if backend is not None:
                        look(bulk, backend)
                    if time.monotonic() - renewed > _RENEW_SECONDS:
                        renew(bulk)
                        renewed = time.monotonic()

    thread = Thread(target=keep, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        # Not for ever: the database may have gone silent.
        thread.join(2 * _LAST_SECONDS)

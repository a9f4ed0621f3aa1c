"""A batch at which its rollup is held up inside PostgreSQL, so that a test can strike while it is at work."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Any

import psycopg
from sqlalchemy import make_url

# Any number that nothing else locks.
_LOCK = 4_711
_HOLD_UP = """
CREATE FUNCTION hold_up() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_advisory_xact_lock_shared({lock}); RETURN NEW; END $$;
CREATE TRIGGER hold_up BEFORE INSERT ON edition_batch FOR EACH ROW
WHEN (NEW.batch_id = {batch} AND NEW.attempts = 0) EXECUTE FUNCTION hold_up();
"""
_HELD_UP = """
SELECT a.pid, a.application_name FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid
WHERE a.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted
"""


class SlowBatch:
    """One batch is not applied before `release`, whoever does it."""

    def __init__(self, connection: "psycopg.Connection[Any]") -> None:
        self._connection = connection
        # The processes that were killed at it.
        self.killed: list[int] = []

    def release(self) -> None:
        """Let the batch be applied."""
        self._connection.execute("SELECT pg_advisory_unlock_all()")

    def wait_for_worker(self) -> int:
        """The process that is at work on the batch, once there is one."""
        return self.wait_for_worker_on()[1]

    def wait_for_worker_on(self, seconds: float = 60) -> tuple[str, int]:
        """The host that is at work on the batch and its process there, once there is one."""
        deadline = time.monotonic() + seconds
        while not (held_up := self._held_up()):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return held_up[0][1:]

    def kill_worker(self) -> int:
        """Wait for the process that is at work on the batch, and kill it."""
        self.wait_for_worker()
        self._kill()
        return self.killed[-1]

    @contextmanager
    def kills_its_workers(self) -> Iterator[None]:
        """During the block, every process that comes to the batch is killed."""
        over = Event()

        def strike() -> None:
            while not over.wait(0.05):
                self._kill()

        thread = Thread(target=strike, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _kill(self) -> None:
        for backend, _host, pid in self._held_up():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                self.killed.append(pid)
            # It would find out only after its wait that nobody listens.
            self._connection.execute("SELECT pg_terminate_backend(%s, 5000)", [backend])

    def _held_up(self) -> list[tuple[int, str, int]]:
        """The server's processes that wait, and the hosts and processes that they work for."""
        held_up = []
        for backend, name in self._connection.execute(_HELD_UP):
            host, _, pid = name.rpartition(":")
            held_up.append((backend, host, int(pid)))
        return held_up


@contextmanager
def slow_batch(url: str, batch: int) -> Iterator[SlowBatch]:
    """During the block, the batch with this number is held up."""
    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute(f"SELECT pg_advisory_lock({_LOCK})")
        connection.execute(_HOLD_UP.format(lock=_LOCK, batch=batch))
        slow = SlowBatch(connection)
        try:
            yield slow
        finally:
            slow.release()
            connection.execute("DROP FUNCTION hold_up CASCADE")

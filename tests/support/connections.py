"""How many connections a database has, as PostgreSQL itself counts them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, Final

import psycopg
from sqlalchemy import make_url

_SECONDS_BETWEEN_LOOKS: Final = 0.01
# Longer than the server lists a connection that its client has closed, and maybe followed by the next one.
_CLOSING_SECONDS: Final = 0.1
# A heartbeat opens its connection after two.
_SETTLE_SECONDS: Final = 4
_PIDS: Final = """
SELECT pid FROM pg_stat_activity WHERE datname = current_database()
AND backend_type = 'client backend' AND application_name <> 'counter'
"""


class Counter:
    """`most`: the most connections at any look that were there a moment later too."""

    def __init__(self, connection: "psycopg.Connection[Any]") -> None:
        self._connection = connection
        self._over = Event()
        self._thread = Thread(target=self._look, daemon=True)
        self.most = 0

    def wait_for(self, count: int) -> None:
        """Wait until there were so many, and then for as long as any more would take to come."""
        deadline = time.monotonic() + 60
        while self.most < count:
            assert time.monotonic() < deadline, self.most
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        time.sleep(_SETTLE_SECONDS)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(_SECONDS_BETWEEN_LOOKS):
            pids = self._pids()
            if len(pids) > self.most:
                time.sleep(_CLOSING_SECONDS)
                self.most = max(self.most, len(pids & self._pids()))

    def _pids(self) -> set[int]:
        return {pid for (pid,) in self._connection.execute(_PIDS)}


@contextmanager
def counted(url: str) -> Iterator[Counter]:
    """Counts the connections to a database during the block, but for those that are `own`."""
    with own(url) as connection:
        counter = Counter(connection)
        counter.start()
        try:
            yield counter
        finally:
            counter.stop()


@contextmanager
def own(url: str) -> Iterator["psycopg.Connection[Any]"]:
    """A connection that is not counted."""
    address = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(address, autocommit=True, application_name="counter") as connection:
        yield connection

"""Counts of calls that are not kept, the last sightings of forms, and heartbeats, brought to the warehouse in
the background: no request waits for it."""

import socket
from collections import Counter
from collections.abc import Callable, Mapping
from threading import Event, Lock, Thread
from typing import Final

from warehouse.domain.time import MICROS_PER_SECOND
from warehouse.forms import form_sightings
from warehouse.forms.form_sightings import Sighting
from warehouse.operations import collectors
from web.db.database import Database
from web.http.request_log import Trouble

WRITE_SECONDS: Final = 2.0
# A form that goes on being seen is written as often.
_SIGHTED_SECONDS: Final = 60
# So often it writes that its host collects, if nothing else is to be written.
_ALIVE_SECONDS: Final = 30
# Forms that one process remembers.
_MOST_SIGHTINGS: Final = 10_000


class WarehouseWriter:
    """A thread that brings counts and discovered forms to the warehouse until `close()`. A process has one. A
    process that is killed loses those of two seconds, and while the warehouse does not answer they wait."""

    def __init__(
        self,
        database: Database,
        clock: Callable[[], int],
        write_seconds: float = WRITE_SECONDS,
    ) -> None:
        self._database, self._clock, self._trouble = database, clock, Trouble()
        self._write_seconds = write_seconds
        self._lock = Lock()
        self._counts: Counter[tuple[int, str]] = Counter()
        self._sightings: dict[tuple[int, str], Sighting] = {}
        # When each form's sighting was taken up last.
        self._sighted: dict[tuple[int, str], int] = {}
        # When this process last wrote that its host collects.
        self._seen_at = 0
        self._ends = Event()
        self._thread = Thread(target=self._run, name="warehouse-writer", daemon=True)
        self._thread.start()

    def add(self, shop_key: int, reason: str, calls: int) -> None:
        if calls:
            with self._lock:
                self._counts[shop_key, reason] += calls

    def see(self, shop_key: int, sightings: Mapping[str, Sighting]) -> None:
        """Note forms of a shop, by id, as just seen."""
        with self._lock:
            for form_id, sighting in sightings.items():
                key = shop_key, form_id
                before = self._sighted.get(key, 0)
                if sighting.seen_at - before < _SIGHTED_SECONDS * MICROS_PER_SECOND:
                    continue
                if len(self._sighted) >= _MOST_SIGHTINGS:
                    self._sighted.clear()
                self._sighted[key] = sighting.seen_at
                if len(self._sightings) >= _MOST_SIGHTINGS:
                    del self._sightings[next(iter(self._sightings))]
                self._sightings[key] = sighting

    def close(self) -> None:
        self._ends.set()
        self._thread.join()

    def _run(self) -> None:
        ends = False
        while not ends:
            ends = self._ends.wait(self._write_seconds)
            with self._lock:
                counts, self._counts = self._counts, Counter()
                sightings, self._sightings = self._sightings, {}
            is_due = self._clock() >= self._seen_at + _ALIVE_SECONDS * MICROS_PER_SECOND
            if not (counts or sightings or is_due):
                continue
            try:
                connection = self._database.write()
                try:
                    now = self._clock()
                    collectors.add_uncollected(connection, counts, now)
                    form_sightings.see(connection, sightings)
                    collectors.record_heartbeat(connection, socket.gethostname(), now)
                    connection.commit()
                    self._seen_at = now
                finally:
                    self._database.release(connection)
                self._trouble.ends()
            except Exception as error:  # whatever it is, the next time may be better
                with self._lock:
                    self._counts += counts
                    self._sightings = sightings | self._sightings
                self._trouble.begins(
                    "The counts of events that were not kept cannot be written to the warehouse "
                    f"({type(error).__name__}); they wait. The next try is in "
                    f"{self._write_seconds:.0f} s."
                )

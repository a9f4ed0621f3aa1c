"""Counts of calls that are not kept, brought to the warehouse in the background: no request waits for it."""

from collections import Counter
from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import Final

from warehouse.operations import uncollected
from web.db.database import Database

WRITE_SECONDS: Final = 30.0


class UncollectedCounts:
    """One per process; it writes until `close()`. A process that is killed loses the counts of half a minute,
    and while the warehouse does not answer they wait."""

    def __init__(
        self,
        database: Database,
        clock: Callable[[], int],
        on_trouble: Callable[[str], None],
        write_seconds: float = WRITE_SECONDS,
    ) -> None:
        """`on_trouble` gets a sentence when writing begins to fail."""
        self._database, self._clock, self._on_trouble = database, clock, on_trouble
        self._write_seconds = write_seconds
        self._lock = Lock()
        self._counts: Counter[tuple[int, str]] = Counter()
        self._is_failing = False
        self._ends = Event()
        self._thread = Thread(target=self._run, name="uncollected-counts", daemon=True)
        self._thread.start()

    def add(self, shop_key: int, reason: str, calls: int) -> None:
        if calls:
            with self._lock:
                self._counts[shop_key, reason] += calls

    def close(self) -> None:
        self._ends.set()
        self._thread.join()

    def _run(self) -> None:
        ends = False
        while not ends:
            ends = self._ends.wait(self._write_seconds)
            with self._lock:
                counts, self._counts = self._counts, Counter()
            if not counts:
                continue
            try:
                self._write(counts)
                self._is_failing = False
            except Exception as error:  # whatever it is, the next time may be better
                with self._lock:
                    self._counts += counts
                self._tell(error)

    def _write(self, counts: Counter[tuple[int, str]]) -> None:
        connection = self._database.write()
        try:
            uncollected.add(connection, counts, self._clock())
            connection.commit()
        finally:
            self._database.release(connection)

    def _tell(self, error: Exception) -> None:
        if not self._is_failing:
            self._is_failing = True
            self._on_trouble(
                "The counts of events that were not kept cannot be written to the warehouse "
                f"({type(error).__name__}); they wait. The next try is in {self._write_seconds:.0f} s."
            )

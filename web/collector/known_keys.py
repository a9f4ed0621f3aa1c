"""The write keys that work, read from the warehouse in the background: no request waits for it.

While the warehouse does not answer, the keys that were read last go on working. A revoked key stops within
seconds.
"""

from threading import Event, Thread
from typing import Final, NamedTuple

from web.auth.write_keys import list_working
from web.db.database import Database
from web.http.request_log import Trouble

READ_SECONDS: Final = 3.0
# The origin that stands for all.
ANY_ORIGIN: Final = "*"


class KnownKey(NamedTuple):
    """A key that works: its shop, and the origins whose pages may use it; none: it is for servers alone."""

    shop_id: str
    shop_key: int
    origins: frozenset[str]

    def allows(self, origin: str) -> bool:
        return ANY_ORIGIN in self.origins or self.names(origin)

    def names(self, origin: str) -> bool:
        """Whether the key names this origin itself."""
        return origin.lower() in self.origins - {ANY_ORIGIN}


class KnownKeys:
    """The write keys that work, read again and again until `close()`. A process has one."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._trouble = Trouble()
        self._keys: dict[str, KnownKey] | None = None
        self._any = KnownKey("", 0, frozenset())
        self._ends = Event()
        self._tried = Event()
        self._thread = Thread(target=self._run, name="known-keys", daemon=True)
        self._thread.start()

    def await_first(self) -> None:
        """Wait until keys were read, or could not be: a page's only call would be refused before."""
        self._tried.wait(READ_SECONDS)

    @property
    def were_read(self) -> bool:
        """Whether keys were read since this process began."""
        return self._keys is not None

    def find(self, text: str) -> KnownKey | None:
        """The key with this text, if it works."""
        return (self._keys or {}).get(text)

    def naming(self, origin: str) -> KnownKey | None:
        """A key that names this origin, for a page that has the line without a key."""
        return next((key for key in (self._keys or {}).values() if key.names(origin)), None)

    def allows(self, origin: str) -> bool:
        """Whether any key allows this origin: a browser asks before it sends a key."""
        return self._any.allows(origin)

    def close(self) -> None:
        self._ends.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ends.is_set():
            try:
                connection = self._database.read()
                try:
                    listed = list_working(connection)
                finally:
                    self._database.release(connection)
                self._trouble.ends()
                keys = {
                    text: KnownKey(shop_id, shop_key, frozenset(origins))
                    for text, shop_id, shop_key, origins in listed
                }
                origins = frozenset().union(*(key.origins for key in keys.values()))
                self._any, self._keys = KnownKey("", 0, origins), keys
            except Exception as error:  # whatever it is, the next time may be better
                self._trouble.begins(
                    f"The write keys cannot be read from the warehouse ({type(error).__name__}); those "
                    f"that were read last go on working. The next try is in {READ_SECONDS:.0f} s."
                )
            self._tried.set()
            self._ends.wait(READ_SECONDS)

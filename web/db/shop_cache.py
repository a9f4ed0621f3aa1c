"""A cache of what follows from a shop's data: answers, and values that several of them read.

Each value is kept under a key that has the data version of the snapshot in which it was read. As long as
requests open a shop of that version, and the passing of time alone has not changed the value, nothing is read
again. Values of an older version are never asked for again, and give way to values that are. Whole answers
are kept beside them under the words of their requests (`web/http/known_answers.py`).
"""

from collections.abc import Callable, Hashable, Sized
from threading import Lock
from typing import Any, Final, TypeVar

from cachetools import LRUCache

from warehouse.domain.time import NEVER

MAX_BYTES: Final = 32 * 1024 * 1024
# A key, what is kept under it, and each row of a value that is none of bytes.
_OVERHEAD_BYTES: Final = 1024
_ROW_BYTES: Final = 256
# The share of the cache that one value may take.
_LARGEST_SHARE: Final = 0.25

Rows = TypeVar("Rows", bound=Sized)


class ShopCache:
    """A cache of the values that were used last, up to so many bytes. A process has one."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._entries: LRUCache[Hashable, tuple[int, int, Any]] = LRUCache(
            max_bytes, getsizeof=lambda entry: entry[0]
        )
        self._lock = Lock()

    def find(self, key: Hashable, now: int) -> Any:
        """The value under a key; None if there is none that holds at this instant."""
        with self._lock:
            _, until, value = self._entries.get(key, (0, 0, None))
        return value if now < until else None

    def keep(self, key: Hashable, value: Any, size: int, until: int) -> None:
        """Keep a value of so many bytes until an instant. A large one is not kept: it would take the place of
        many others, of all shops."""
        size += _OVERHEAD_BYTES
        with self._lock:
            if size <= self._entries.maxsize * _LARGEST_SHARE:
                self._entries[key] = size, until, value

    def get(self, name: str, shop_key: int, data_version: int, compute: Callable[[], Rows]) -> Rows:
        """The rows called `name` of a shop whose data have this version, computed where they are not there
        yet."""
        key = name, shop_key, data_version
        rows: Rows | None = self.find(key, 0)
        if rows is None:
            rows = compute()
            self.keep(key, rows, _ROW_BYTES * len(rows), NEVER)
        return rows

"""Answers that have been given, kept for as long as they are still the answer.

An answer is kept under what was asked, with the data version of the snapshot that it was read in. As
long as the key of a request opens a shop of that version, and the passing of time alone has not changed
the answer, no figure is read again: neither for the answer nor for its tag. Answers of an older version
are never asked for again, and give way to answers that are.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

from cachetools import LRUCache

from web.http.etags import State

MAX_BYTES: Final = 32 * 1024 * 1024
# An answer's key, its state and its entry.
_OVERHEAD_BYTES: Final = 1024
# The share of the cache that one answer may take.
_LARGEST_SHARE: Final = 0.25


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """`data` is JSON. `until` is the first instant at which the state is another although the data version
    is the same."""

    state: State
    until: int
    data: bytes
    meta: Mapping[str, Any]


class ResponseCache:
    """One per process: the answers that were used last, up to so many bytes."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._entries: LRUCache[Hashable, tuple[int, CachedResponse]] = LRUCache(
            max_bytes, getsizeof=lambda entry: entry[0]
        )
        self._lock = Lock()

    def get(self, key: Hashable, now: int) -> CachedResponse | None:
        """The answer to what was asked, if it is still the answer. The key has the data version."""
        with self._lock:
            _, response = self._entries.get(key, (0, None))
        return response if response and now < response.until else None

    def put(self, key: Hashable, response: CachedResponse, key_size: int) -> None:
        """Keep an answer. A large one is not kept: it would take the place of many others, of all shops."""
        size = _OVERHEAD_BYTES + key_size + len(response.data)
        with self._lock:
            if size <= self._entries.maxsize * _LARGEST_SHARE:
                self._entries[key] = size, response

"""Answers that have been given, kept for as long as they are still the answer.

An answer is kept under what was asked, with the data version of the snapshot that it was read in. As
long as the key of a request opens a shop of that version, and the passing of time alone has not changed
the answer, no figure is read again: neither for the answer nor for its tag.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

from cachetools import LRUCache

from web.http.current_request import Shop
from web.http.etags import State
from web.http.parsed_request import ParsedRequest

MAX_BYTES: Final = 32 * 1024 * 1024
# An answer's key, its state and its entry.
_OVERHEAD_BYTES: Final = 1024
# The share of the cache that one answer may take.
_LARGEST_SHARE: Final = 0.25


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """`data` is JSON; None as long as only the state was needed. `until` is the first instant at which
    the state is another although the data version is the same."""

    state: State
    until: int
    data: bytes | None
    meta: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Entry:
    """`version` is that of the data that the response was read from."""

    version: tuple[int, int]
    response: CachedResponse
    size: int


class ResponseCache:
    """One per process: the answers that were used last, up to so many bytes."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._entries: LRUCache[Hashable, _Entry] = LRUCache(
            max_bytes, getsizeof=lambda entry: entry.size
        )
        self._lock = Lock()

    def get(self, parsed: ParsedRequest) -> CachedResponse | None:
        """The answer to the request, if it is still the answer."""
        with self._lock:
            entry = self._entries.get(parsed.key)
        if entry is None or entry.version != _version(parsed.caller.shop):
            return None
        return entry.response if parsed.now < entry.response.until else None

    def put(self, parsed: ParsedRequest, response: CachedResponse) -> None:
        """Keep an answer that was read in the request's snapshot. A large one is not kept: it would take
        the place of many others, of all shops."""
        size = _OVERHEAD_BYTES + len(repr(parsed.values)) + len(response.data or b"")
        entry = _Entry(_version(parsed.caller.shop), response, size)
        with self._lock:
            if size <= self._entries.maxsize * _LARGEST_SHARE:
                self._entries[parsed.key] = entry


def _version(shop: Shop) -> tuple[int, int]:
    return shop.data_version, shop.data_changed_at

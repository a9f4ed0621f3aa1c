"""Answers that have been given, kept for as long as they are still the answer.

An answer is kept under what was asked, with the data version of the snapshot that it was read in. As
long as the key of a request opens a shop of that version, and nothing in it has become otherwise by
time alone, the warehouse need not be asked again: not for the answer, and not for its tag.
"""

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

from web.asking import Asked
from web.validators import State

MOST_BYTES: Final = 32 * 1024 * 1024
# What an answer takes beside its data: its key, its state, its place.
_OVERHEAD: Final = 1024


@dataclass(frozen=True, slots=True)
class Kept:
    """`data` as JSON, None as long as only the state was asked for; `until` is the first instant at
    which the state is another although the data version is the same."""

    state: State
    until: int
    data: bytes | None
    meta: Mapping[str, Any]


class Answers:
    """One per process: those asked for last, up to so many bytes."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most, self._size = most, 0
        self._lock = Lock()
        # By what was asked: the version it was read of, what it takes, and the answer.
        self._kept: OrderedDict[Hashable, tuple[tuple[int, int], int, Kept]] = OrderedDict()

    def get(self, asked: Asked) -> Kept | None:
        """The answer to what is asked, of the shop as it is."""
        key = asked.key
        with self._lock:
            if key not in self._kept:
                return None
            version, _, kept = self._kept[key]
            if version != _version(asked) or asked.now >= kept.until:
                return None
            self._kept.move_to_end(key)
            return kept

    def keep(self, asked: Asked, kept: Kept) -> None:
        """Keep an answer that was read in the snapshot in which the shop was as it is in `asked`."""
        key, size = asked.key, _OVERHEAD + len(repr(asked.values)) + len(kept.data or b"")
        with self._lock:
            if key in self._kept:
                self._size -= self._kept.pop(key)[1]
            self._kept[key] = _version(asked), size, kept
            self._size += size
            while self._size > self._most:
                self._size -= self._kept.popitem(last=False)[1][1]


def _version(asked: Asked) -> tuple[int, int]:
    return asked.caller.shop.data_version, asked.caller.shop.moved_at

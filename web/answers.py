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

from web.callers import Shop
from web.ranges import Window
from web.validators import State

MOST_BYTES: Final = 32 * 1024 * 1024
# What an answer takes beside its data: its key, its state, its place.
_OVERHEAD: Final = 1024


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks: an endpoint's path, its parameters, its window on the shop's day `today`, at
    the instant `now`."""

    path: str
    form_id: str
    values: tuple[Hashable, ...]
    window: Window
    today: int
    now: int

    @property
    def key(self) -> tuple[Hashable, ...]:
        """All that tells one question to a shop from another."""
        window = self.window
        return self.path, self.form_id, self.values, window.first, window.last, self.today


@dataclass(frozen=True, slots=True)
class Kept:
    """`data` as JSON, None as long as only the state was asked for; `until` is the first instant at
    which the state is another although the data version is the same."""

    state: State
    until: int
    data: bytes | None
    meta: Mapping[str, Any]


class Answers:
    """One per process: those asked for last, up to MOST_BYTES."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most, self._size = most, 0
        self._lock = Lock()
        self._kept: OrderedDict[Hashable, tuple[tuple[int, int], Kept]] = OrderedDict()

    def get(self, asked: Hashable, shop: Shop, now: int) -> Kept | None:
        """The answer to what is asked of a shop as it is, at an instant."""
        with self._lock:
            place = shop.key, asked
            version, kept = self._kept.get(place, (None, None))
            if kept is None or version != _version(shop) or now >= kept.until:
                return None
            self._kept.move_to_end(place)
            return kept

    def keep(self, asked: Hashable, shop: Shop, kept: Kept) -> None:
        """Keep an answer that was read in the snapshot in which the shop was as it is given."""
        with self._lock:
            place = shop.key, asked
            before = self._kept.pop(place, None)
            self._size += _size(kept) - (_size(before[1]) if before else 0)
            self._kept[place] = _version(shop), kept
            while self._size > self._most:
                _, (_, oldest) = self._kept.popitem(last=False)
                self._size -= _size(oldest)


def _version(shop: Shop) -> tuple[int, int]:
    return shop.data_version, shop.moved_at


def _size(kept: Kept) -> int:
    return _OVERHEAD + len(kept.data or b"")

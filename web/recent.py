"""What was used last, by its key, up to so many bytes: for all threads of one process."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """What has no room any more goes in the order in which it was last kept or got."""

    def __init__(self, most: int) -> None:
        self._most, self._size = most, 0
        self._lock = Lock()
        # Each with what it takes.
        self._kept: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()

    def get(self, key: Hashable) -> Value | None:
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def keep(self, key: Hashable, value: Value, size: int) -> None:
        """Keep it in the place of what there is under the key. `size` is what it takes."""
        with self._lock:
            if key in self._kept:
                self._size -= self._kept.pop(key)[1]
            self._kept[key] = value, size
            self._size += size
            while self._size > self._most:
                self._size -= self._kept.popitem(last=False)[1][1]

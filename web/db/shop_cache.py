"""A cache of values computed from a shop's data, kept until that data change."""

from collections.abc import Callable
from threading import Lock
from typing import Any, Final, TypeVar

from cachetools import LRUCache

_MAX_ENTRIES: Final = 1_000

Value = TypeVar("Value")


class ShopCache:
    """One per process: the values that were used last."""

    def __init__(self) -> None:
        # By name and shop: the data version, and the value of it.
        self._values: LRUCache[tuple[str, int], tuple[int, Any]] = LRUCache(_MAX_ENTRIES)
        self._lock = Lock()

    def get(
        self, name: str, shop_key: int, data_version: int, compute: Callable[[], Value]
    ) -> Value:
        """The value called `name` of a shop whose data have this version, computed where it is not
        there yet."""
        key = name, shop_key
        with self._lock:
            cached = self._values.get(key)
        if cached is None or cached[0] != data_version:
            cached = data_version, compute()
            with self._lock:
                self._values[key] = cached
        value: Value = cached[1]
        return value

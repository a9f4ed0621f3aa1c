"""Iterate in a second thread: the next item is made while the current one is being used."""

from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

T = TypeVar("T")

_END: Final[Any] = object()


def background_iter(items: Iterable[T]) -> Generator[T, None, None]:
    """The same items, each made in a second thread while the one before it is being used. An error
    raised there is raised here. Closing the generator waits for the item that is being made."""
    iterator = iter(items)
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(next, iterator, _END)
        while (item := following.result()) is not _END:
            following = pool.submit(next, iterator, _END)
            yield item

"""Iterate in a second thread: the next item is made while the current one is being used."""

from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, Final, TypeVar

T = TypeVar("T")

_END: Final[Any] = object()


def background_iter(items: Iterable[T]) -> Generator[T, None, None]:
    """The same items, each made in a second thread while the one before it is being used. An error
    raised there is raised here. Closing the generator waits for the item that is being made. Context
    variables are there as they are here at the begin."""
    iterator, context = iter(items), copy_context()

    def make() -> T:
        return next(iterator, _END)

    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(context.run, make)
        while (item := following.result()) is not _END:
            following = pool.submit(context.run, make)
            yield item

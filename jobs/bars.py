"""Progress bars, where someone watches."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Bar(Protocol):
    """A bar that has come to `n`."""

    n: float

    def update(self, more: float) -> object: ...


class _Unseen:
    n: float = 0

    def update(self, more: float) -> None:
        self.n += more


@contextmanager
def bar(what: str, unit: str, total: int | None = None) -> Iterator[Bar]:
    """A bar on standard error, where that is a terminal."""
    if not sys.stderr.isatty():
        yield _Unseen()
        return
    # Imported here: a job of a schedule has no one to show it to, and it brings multiprocessing along.
    from tqdm import tqdm

    with tqdm(total=total, unit=unit, unit_scale=True, desc=what) as shown:
        yield shown

"""Shares of the work: sets of editions, each worth about one portion of raw rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Self

from jobs.pipeline import batching

# Several for each worker, so that none works on alone for long at the end.
_SHARES_PER_WORKER: Final = 4
# A share has at least 1/20 of a portion: each costs its worker a connection and a plan of its own.
_MIN_FRACTION: Final = 20


@dataclass(frozen=True)
class Share:
    """Editions whose pending batches one task applies.

    - `retry_at`, `give_up_at`: instants of the monotonic clock, 0 for none. The share is not submitted
      before the first; after the second it is left to the driver's own drain.
    - `failures`: how many workers could not do it
    """

    editions: tuple[int, ...]
    retry_at: float = 0.0
    give_up_at: float = 0.0
    failures: int = 0

    def later(self, editions: tuple[int, ...], retry_at: float, give_up_at: float) -> Self:
        """These of the editions, some time later; `give_up_at` counts from the first time."""
        return replace(
            self, editions=editions, retry_at=retry_at, give_up_at=self.give_up_at or give_up_at
        )

    def failed(self) -> Self:
        """The same share, after a worker could not do it."""
        return replace(self, failures=self.failures + 1)


def shares(rows: Mapping[int, int], workers: int) -> list[Share]:
    """Shares of editions with so many pending rows each, the largest share first: small editions
    together, a huge one alone. None where the rows are one portion: one process does that at once."""
    total = sum(rows.values())
    if total <= batching.BATCH_ROWS:
        return []
    size = min(batching.BATCH_ROWS, total // (_SHARES_PER_WORKER * workers))
    size = max(size, batching.BATCH_ROWS // _MIN_FRACTION)
    packed: list[list[int]] = []
    # The last share takes editions for as long as they fit.
    filled = size
    for edition in sorted(rows, key=lambda number: (-rows[number], number)):
        filled += rows[edition]
        if filled > size:
            filled = rows[edition]
            packed.append([])
        packed[-1].append(edition)
    packed.sort(key=lambda editions: -sum(rows[edition] for edition in editions))
    return [Share(tuple(editions)) for editions in packed]

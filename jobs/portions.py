"""Portions: how many of the batches that wait are taken in at once, and in which order."""

from collections.abc import Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import Final

from warehouse.queue import Batch

# Raw rows worked on at once: bounds the memory (two more portions are being read meanwhile), and the
# length of a writing transaction.
BATCH_ROWS: Final = 400_000
# Nothing is taken in while the first portion is read, so it is a fraction of that.
_FIRST: Final = 6
# How many times as large as a portion is the next one, at most.
_GROWTH: Final = 3


def portion(waiting: Sequence[Batch], limit: int) -> list[Batch]:
    """The batches of the first turns that fit into one go of so many rows (of at least one turn)."""
    taken: list[Batch] = []
    rows = 0
    for _, batches in groupby(waiting, itemgetter("edition", "turn")):
        turn = list(batches)
        count = _rows(turn)
        if not taken or rows + count <= limit:
            taken += turn
            rows += count
    return taken


def portions(
    ready: Sequence[Batch], begun: Sequence[list[Batch]], meanwhile: int
) -> list[list[Batch]]:
    """The portion to take in now, and at most so many to read `meanwhile`, in their order.

    Those that were `begun` come first; but none of them where a batch of them is not ready any more.
    """
    left = {_pair(batch): batch for batch in ready}
    found = list(begun)
    if not {_pair(batch) for batch in chain(*found)} <= left.keys():
        found = []
    while True:
        for batch in chain(*found):
            left.pop(_pair(batch), None)
        if not left or len(found) > meanwhile:
            return found
        waiting = list(left.values())
        found.append(portion(waiting, _limit(found, _rows(waiting))))


def _limit(before: list[list[Batch]], left: int) -> int:
    if before:
        return min(BATCH_ROWS, _GROWTH * _rows(before[-1]))
    return BATCH_ROWS if left <= BATCH_ROWS else BATCH_ROWS // _FIRST


def _rows(batches: list[Batch]) -> int:
    return sum(batch["rows"] for batch in batches)


def _pair(batch: Batch) -> tuple[int, int]:
    return batch["edition"], batch["batch_id"]

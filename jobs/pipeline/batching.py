"""Which editions are claimed next, and which of their pending batches are applied together."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import Final

from warehouse.editions.pending_batches import MAX_BATCHES, Batch

# Raw rows of one group of batches. Bounds the memory, as two more groups are read meanwhile, and the
# length of a writing transaction.
BATCH_ROWS: Final = 400_000
# The first group of many is 1/6 as large: nothing can be applied until it has been read.
_FIRST_GROUP_FRACTION: Final = 6
# A group is at most this many times as large as the one before it.
_MAX_GROWTH: Final = 3


def next_batches(pending: Sequence[Batch], max_rows: int) -> list[Batch]:
    """The batches to apply together: whole turns (`Batch.turn`) in their order while they have at most
    `max_rows` rows together; at least the first turn."""
    chosen: list[Batch] = []
    rows = 0
    for _, batches in groupby(pending, itemgetter("edition", "turn")):
        turn = list(batches)
        count = _rows(turn)
        if not chosen or rows + count <= max_rows:
            chosen += turn
            rows += count
    return chosen


def next_claims(pending: Sequence[Batch], wanted: set[int], held: set[int]) -> list[int]:
    """The wanted editions to claim now, in the order of their pending batches.

    A run holds editions with about `BATCH_ROWS` pending rows, and leaves the others to runs on other
    hosts. An edition without a pending batch costs nothing: it waits to be published. (Where the list
    is cut, it says nothing of the editions that it lacks.)
    """
    rows = Counter[int]()
    for batch in pending:
        rows[batch["edition"]] += batch["rows"]
    at_hand = sum(rows[number] for number in held)
    is_whole = len(pending) < MAX_BATCHES
    chosen = sorted(wanted - held - rows.keys()) if is_whole else []
    for number in rows:
        if at_hand < BATCH_ROWS and number not in held:
            chosen.append(number)
            at_hand += rows[number]
    return chosen


def next_groups(
    pending: Sequence[Batch], started: Sequence[list[Batch]], ahead: int
) -> list[list[Batch]]:
    """The group of batches to apply now, then at most `ahead` groups to read meanwhile, in order.

    `started` are the groups whose reading has begun. They come first, unless one of their batches is
    no longer pending: then all groups are made again.
    """
    left = {_id(batch): batch for batch in pending}
    groups = list(started)
    if not {_id(batch) for batch in chain(*groups)} <= left.keys():
        groups = []
    while True:
        for batch in chain(*groups):
            left.pop(_id(batch), None)
        if not left or len(groups) > ahead:
            return groups
        waiting = list(left.values())
        groups.append(next_batches(waiting, _max_rows(groups, _rows(waiting))))


def _max_rows(before: list[list[Batch]], left: int) -> int:
    if before:
        return min(BATCH_ROWS, _MAX_GROWTH * _rows(before[-1]))
    return BATCH_ROWS if left <= BATCH_ROWS else BATCH_ROWS // _FIRST_GROUP_FRACTION


def _rows(batches: list[Batch]) -> int:
    return sum(batch["rows"] for batch in batches)


def _id(batch: Batch) -> tuple[int, int]:
    return batch["edition"], batch["batch_id"]

"""Which editions are claimed next, and which of their pending batches are applied together."""

from collections.abc import Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import Final

from warehouse.editions.pending_batches import MAX_BATCHES, Backlog, Batch

# Raw rows of one group of batches. Bounds the memory, as one more group is read meanwhile, and the
# length of a writing transaction.
BATCH_ROWS: Final = 400_000
# The first group of many is 1/6 as large: nothing can be applied until it has been read.
_FIRST_GROUP_FRACTION: Final = 6
# Pending rows of the editions that a run holds: enough for a group to be read while one is applied.
CLAIMED_ROWS: Final = 3 * BATCH_ROWS // 2
# A group is at most this many times as large as the largest before it.
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


def next_claims(
    backlogs: Mapping[int, Backlog],
    wanted: set[int],
    held: set[int],
    claimed_rows: int = CLAIMED_ROWS,
) -> list[int]:
    """The wanted editions to claim now, in the order in which their batches are to be applied.

    A run holds editions with about `claimed_rows` pending rows, and leaves the others to other runs. An
    edition without a pending batch costs nothing: it waits to be published.
    """
    at_hand = [backlogs[number] for number in held if number in backlogs]
    rows, batches = (sum(counts) for counts in zip(*at_hand, strict=True)) if at_hand else (0, 0)
    chosen = sorted(wanted - held - backlogs.keys())
    for number, backlog in backlogs.items():
        # A list of batches that is cut would begin differently after each group.
        if rows >= claimed_rows or batches + backlog.batches > MAX_BATCHES:
            break
        if number not in held:
            chosen.append(number)
            rows += backlog.rows
            batches += backlog.batches
    return chosen


def next_groups(pending: Sequence[Batch], started: Sequence[list[Batch]]) -> list[list[Batch]]:
    """The group of batches to apply now, then the one to read meanwhile, if there is one.

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
        if not left or len(groups) > 1:
            return groups
        waiting = list(left.values())
        groups.append(next_batches(waiting, _max_rows(groups, _rows(waiting))))


def _max_rows(before: list[list[Batch]], left: int) -> int:
    if before:
        return min(BATCH_ROWS, _MAX_GROWTH * max(map(_rows, before)))
    return BATCH_ROWS if left <= BATCH_ROWS else BATCH_ROWS // _FIRST_GROUP_FRACTION


def _rows(batches: list[Batch]) -> int:
    return sum(batch["rows"] for batch in batches)


def _id(batch: Batch) -> tuple[int, int]:
    return batch["edition"], batch["batch_id"]

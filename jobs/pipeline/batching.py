"""Which editions are claimed next, and which of their pending batches are applied together."""

from collections.abc import Mapping, Sequence
from typing import Final

from warehouse.connections.chunks import chunks
from warehouse.editions.pending_batches import MAX_BATCHES, Backlog, Batch

# Raw rows of one group of batches: one is in memory at a time, and is written by one transaction. A run
# claims as many, so that a group of small shops is full, too.
BATCH_ROWS: Final = 550_000


def next_batches(pending: Sequence[Batch], most_rows: int) -> list[Batch]:
    """The first batches, to apply together: all that an edition has, where another's come before them. The
    next group would have to look up what this one stored of it."""
    sized = ((batch, batch["weight"]) for batch in pending)
    found = next(chunks(sized, most_rows, MAX_BATCHES), [])
    cut = {batch["edition"] for batch in pending[len(found) : len(found) + 1]}
    return [batch for batch in found if batch["edition"] not in cut] or found


def next_claims(
    backlogs: Mapping[int, Backlog],
    wanted: set[int],
    held: set[int],
    claimed_rows: int = BATCH_ROWS,
) -> list[int]:
    """The wanted editions to claim now, in the order in which their batches are to be applied.

    A run holds editions with about `claimed_rows` pending rows, and leaves the others to other runs. An
    edition without a pending batch costs nothing: it waits to be published.
    """
    at_hand = [backlogs[number] for number in held if number in backlogs]
    rows, batches = (sum(counts) for counts in zip(*at_hand, strict=True)) if at_hand else (0, 0)
    chosen = sorted(wanted - held - backlogs.keys())
    for number, backlog in backlogs.items():
        if rows >= claimed_rows or batches + backlog.batches > MAX_BATCHES:
            break
        if number not in held:
            chosen.append(number)
            rows += backlog.rows
            batches += backlog.batches
    return chosen

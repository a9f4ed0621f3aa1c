"""Groups: every batch once and in its turn, within bounds; groups that are being read stay first."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.pipeline.batching import BATCH_ROWS, next_claims, next_groups
from warehouse.editions.pending_batches import MAX_BATCHES, Backlog, Batch


def batches(rows: list[int], first: int = 0) -> list[Batch]:
    """Batches of one edition, each a turn of its own."""
    return [
        {"edition": 1, "shop_key": 1, "batch_id": first + number, "rows": count, "turn": number}
        for number, count in enumerate(rows)
    ]


def ids(of: list[list[Batch]]) -> list[list[int]]:
    return [[batch["batch_id"] for batch in group] for group in of]


@given(rows=st.lists(st.integers(1, BATCH_ROWS), max_size=40))
def test_each_batch_once_and_within_bounds(rows: list[int]) -> None:
    started: list[list[Batch]] = []
    left, taken = batches(rows), []
    while found := next_groups(left, started):
        assert found[: len(started)] == started
        assert len(found) <= 2
        for group in found:
            assert len(group) == 1 or sum(batch["rows"] for batch in group) <= BATCH_ROWS
        first, *started = found
        taken += [batch["batch_id"] for batch in first]
        left = [batch for batch in left if batch not in first]
    assert sorted(taken) == list(range(len(rows)))


def test_groups_grow() -> None:
    started: list[list[Batch]] = []
    left, sizes = batches([20_000] * 100), []
    while found := next_groups(left, started):
        first, *started = found
        sizes.append(sum(batch["rows"] for batch in first))
        left = [batch for batch in left if batch not in first]
    assert sizes == [60_000, 180_000, *[400_000] * 4, 160_000]


def test_a_small_backlog_is_one_group() -> None:
    assert ids(next_groups(batches([1] * 50), [])) == [list(range(50))]
    assert next_groups([], []) == []


@pytest.mark.parametrize("lost", [0, 2])
def test_started_groups_are_dropped_if_one_of_their_batches_is_no_longer_pending(lost: int) -> None:
    ready = batches([200_000] * 8)
    _, *started = next_groups(ready, [])
    left = [batch for batch in ready if batch["batch_id"] != lost]
    found = next_groups(left, started)
    if lost in chain(*ids(started)):
        assert found[0] == left[:1]
    else:
        assert found[: len(started)] == started
    assert lost not in chain(*ids(found))


def shops(rows: int, count: int, batches: int = 1) -> dict[int, Backlog]:
    """So many editions with such a backlog each."""
    return {number: Backlog(rows, batches) for number in range(1, count + 1)}


def test_a_run_claims_about_two_portions_and_leaves_the_rest_to_others() -> None:
    backlogs, wanted = shops(BATCH_ROWS, 6), set(range(1, 7))
    assert next_claims(backlogs, wanted, set()) == [1, 2]
    assert next_claims(backlogs, wanted, {3}) == [1]
    assert next_claims(backlogs, wanted, {1, 2}) == []
    # A huge shop is claimed alone.
    assert next_claims(shops(10 * BATCH_ROWS, 3), {1, 2, 3}, set()) == [1]


def test_a_run_claims_no_more_batches_than_one_list_has() -> None:
    backlogs = shops(1, 200, MAX_BATCHES // 100)
    claimed = next_claims(backlogs, set(backlogs), set())
    assert claimed == list(range(1, 101))
    assert next_claims(backlogs, set(backlogs), set(claimed)) == []
    assert next_claims(backlogs, set(backlogs), set(claimed[1:])) == [1]


def test_an_edition_that_only_waits_to_be_published_is_claimed() -> None:
    assert next_claims(shops(2 * BATCH_ROWS, 2), {1, 2, 9}, {1}) == [9]

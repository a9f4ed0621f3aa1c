"""Portions: every batch once and in its turn, within bounds, and what is being read stays first."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.portions import BATCH_ROWS, portions
from warehouse.queue import Batch


def batches(rows: list[int], first: int = 0) -> list[Batch]:
    """Batches of one edition, each a turn of its own."""
    return [
        {"edition": 1, "shop_key": 1, "batch_id": first + number, "rows": count, "turn": number}
        for number, count in enumerate(rows)
    ]


def ids(of: list[list[Batch]]) -> list[list[int]]:
    return [[batch["batch_id"] for batch in portion] for portion in of]


@given(rows=st.lists(st.integers(1, BATCH_ROWS), max_size=40), meanwhile=st.integers(0, 3))
def test_each_batch_once_and_within_bounds(rows: list[int], meanwhile: int) -> None:
    begun: list[list[Batch]] = []
    left, taken = batches(rows), []
    while found := portions(left, begun, meanwhile):
        assert found[: len(begun)] == begun
        assert len(found) <= 1 + meanwhile
        for portion in found:
            assert len(portion) == 1 or sum(batch["rows"] for batch in portion) <= BATCH_ROWS
        first, *begun = found
        taken += [batch["batch_id"] for batch in first]
        left = [batch for batch in left if batch not in first]
    assert sorted(taken) == list(range(len(rows)))


def test_portions_grow() -> None:
    begun: list[list[Batch]] = []
    left, sizes = batches([20_000] * 100), []
    while found := portions(left, begun, 2):
        first, *begun = found
        sizes.append(sum(batch["rows"] for batch in first))
        left = [batch for batch in left if batch not in first]
    assert sizes == [60_000, 180_000, *[400_000] * 4, 160_000]


def test_what_little_there_is_goes_at_once() -> None:
    assert ids(portions(batches([1] * 50), [], 2)) == [list(range(50))]
    assert portions([], [], 2) == []


@pytest.mark.parametrize("lost", [0, 3])
def test_what_is_begun_is_left_where_a_batch_of_it_is_no_longer_ready(lost: int) -> None:
    ready = batches([200_000] * 8)
    _, *begun = portions(ready, [], 2)
    left = [batch for batch in ready if batch["batch_id"] != lost]
    found = portions(left, begun, 2)
    if lost in chain(*ids(begun)):
        assert found[0] == left[:1]
    else:
        assert found[: len(begun)] == begun
    assert lost not in chain(*ids(found))

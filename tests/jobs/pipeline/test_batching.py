"""Groups: every batch once and in its order, within bounds; and what a run claims for them."""

from hypothesis import given
from hypothesis import strategies as st

from jobs.pipeline.batching import BATCH_ROWS, next_batches, next_claims
from warehouse.editions.pending_batches import MAX_BATCHES, Backlog, Batch


def batches(rows: list[int]) -> list[Batch]:
    """Batches of one edition."""
    return [
        {"edition": 1, "shop_key": 1, "batch_id": number, "rows": 1, "weight": count}
        for number, count in enumerate(rows)
    ]


@given(rows=st.lists(st.integers(1, BATCH_ROWS), max_size=40))
def test_each_batch_once_and_within_bounds(rows: list[int]) -> None:
    left, taken = batches(rows), []
    while group := next_batches(left, BATCH_ROWS):
        assert sum(batch["weight"] for batch in group) <= BATCH_ROWS
        taken += [batch["batch_id"] for batch in group]
        left = left[len(group) :]
    assert taken == list(range(len(rows)))


def test_a_batch_of_more_rows_is_a_group() -> None:
    large, small = batches([BATCH_ROWS + 1, 1])
    assert next_batches([large, small], BATCH_ROWS) == [large]


def test_a_small_backlog_is_one_group() -> None:
    small = batches([1] * 50)
    assert next_batches(small, BATCH_ROWS) == small
    assert next_batches([], BATCH_ROWS) == []


def test_a_group_ends_with_an_edition() -> None:
    begun, next_one = batches([40, 40]), [batch | {"edition": 2} for batch in batches([10, 10, 10])]
    assert next_batches([*begun, *next_one], 100) == begun
    assert next_batches([*begun, *next_one], 110) == [*begun, *next_one]
    assert next_batches(next_one, 20) == next_one[:2], "one that is larger than a group is cut"


def shops(rows: int, count: int, batches: int = 1) -> dict[int, Backlog]:
    """So many editions with such a backlog each."""
    return {number: Backlog(rows, batches) for number in range(1, count + 1)}


def test_a_run_claims_a_group_of_rows_and_leaves_the_rest_to_others() -> None:
    backlogs, wanted = shops(BATCH_ROWS // 2, 6), set(range(1, 7))
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

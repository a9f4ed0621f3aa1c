"""Columns added up by keys."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from warehouse.daily.group_sum import add_up, distinct, total

# Small numbers that repeat, and ids that are spread over all 64 bits.
numbers = st.one_of(st.integers(-3, 3), st.sampled_from([-(2**63), 2**63 - 1, 2**40, -(2**40)]))
amounts = st.integers(-(2**50), 2**50)


def column(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def test_sums_by_one_key() -> None:
    (key,), (sums,) = add_up([column([7, 5, 7])], [column([1, 10, 100])])
    assert (key.tolist(), sums.tolist()) == ([5, 7], [10, 101])


def test_sums_are_exact_beyond_what_a_float_holds() -> None:
    _, (sums,) = add_up([column([1, 1])], [column([2**53, 1])])
    assert sums.tolist() == [2**53 + 1]


@given(st.lists(st.tuples(numbers, numbers, amounts, amounts), max_size=30))
def test_as_a_dictionary_would(lines: list[tuple[int, int, int, int]]) -> None:
    expected: dict[tuple[int, int], tuple[int, int]] = {}
    for first, second, *more in lines:
        before = expected.get((first, second), (0, 0))
        expected[first, second] = before[0] + more[0], before[1] + more[1]
    a, b, x, y = (column([line[place] for line in lines]) for place in range(4))
    keys, sums = add_up([a, b], [x, y])
    found = [each.tolist() for each in (*keys, *sums)]
    assert list(zip(*found, strict=True)) == [
        (*key, *total) for key, total in sorted(expected.items())
    ]


def test_the_columns_that_are_no_keys_are_added_up() -> None:
    columns = {"orders": column([1, 2, 4]), "day": column([8, 7, 8])}
    assert {name: sums.tolist() for name, sums in total(columns, ["day"]).items()} == {
        "day": [7, 8],
        "orders": [2, 5],
    }


@given(st.lists(numbers, max_size=30))
def test_distinct_values_with_their_places(values: list[int]) -> None:
    found, places = distinct(column(values))
    assert found.tolist() == sorted(set(values))
    assert found[places].tolist() == values


def test_many_lines_of_few_values() -> None:
    ids = column([7, -(2**63), 7, 2**62] * 2_000)
    found, places = distinct(ids)
    assert found.tolist() == [-(2**63), 7, 2**62]
    assert (found[places] == ids).all()

"""Keys of several columns, against what plain Python says of the same rows."""

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from jobs.arrays.group_keys import (
    Column,
    distinct_rows,
    earliest,
    group_keys,
    index_of_rows,
    join,
    latest,
)
from tests.support.depth import examples

# Few, so that they meet; some spread as ids are, which are coded in another way.
_NUMBERS = st.sampled_from([0, 1, 2, -(2**63), 2**62, 2**63 - 1])
_KEYS = st.lists(st.tuples(_NUMBERS, _NUMBERS), max_size=12)
some = examples(60)


def columns(rows: list[tuple[int, int]]) -> list[Column]:
    return [np.array([row[place] for row in rows], dtype=np.int64) for place in (0, 1)]


@some
@given(_KEYS, _KEYS)
def test_a_join_is_all_pairs_of_equal_rows(ours: list[Any], theirs: list[Any]) -> None:
    a, b = join(columns(ours), columns(theirs))
    expected = [(i, j) for i, x in enumerate(ours) for j, y in enumerate(theirs) if x == y]
    assert sorted(zip(a.tolist(), b.tolist(), strict=True)) == expected


@some
@given(_KEYS, _KEYS)
def test_what_is_wanted_is_found_where_it_is(keys: list[Any], wanted: list[Any]) -> None:
    places = index_of_rows(columns(keys), columns(wanted)).tolist()
    assert [place >= 0 for place in places] == [key in keys for key in wanted]
    assert all(keys[place] == key for place, key in zip(places, wanted, strict=True) if place >= 0)


@some
@given(_KEYS)
def test_distinct_rows_are_there_once(rows: list[Any]) -> None:
    found = distinct_rows(dict(zip("ab", columns(rows), strict=True)))
    assert sorted(zip(found["a"].tolist(), found["b"].tolist(), strict=True)) == sorted(set(rows))


@some
@given(st.lists(st.tuples(_NUMBERS, st.integers(0, 2), st.sampled_from("abcé")), max_size=12))
def test_the_latest_and_the_earliest_of_each_group(rows: list[tuple[int, int, str]]) -> None:
    groups = group_keys(np.array([row[0] for row in rows], dtype=np.int64)).dense()
    at = np.array([row[1] for row in rows], dtype=np.int64)
    texts = pd.Series([row[2] for row in rows], dtype="str")
    for function, extreme in ((latest, max), (earliest, min)):
        found = {rows[place] for place in function(groups, at, texts).tolist()}
        grouped = {row[0]: [one for one in rows if one[0] == row[0]] for row in rows}
        assert found == {extreme(group, key=lambda row: row[1:]) for group in grouped.values()}
    alone = [rows[place][:2] for place in earliest(groups, at).tolist()]
    assert sorted(alone) == sorted(
        (key, min(row[1] for row in group)) for key, group in grouped.items()
    )

"""Differences between answers: which count, and that they can be read."""

from typing import Any

import pytest

from tests.support.oracle import compare

ROW = {"name": "a", "orders": 4, "rate": 33.33, "open": True, "code": None}
TIMES = {"deviceType": "all", "completions": 2, "averageMs": 1.5, "p50Ms": 1000.0}
BUCKETS = [{"fromMs": 0, "toMs": 900, "count": 1}, {"fromMs": 900, "toMs": 1800, "count": 1}]


def test_equal_answers_do_not_differ() -> None:
    assert compare("/v1/attribution", [ROW, ROW], [dict(reversed(ROW.items())), ROW]) == []


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"orders": 5}, "data[0].orders: expected 4, got 5"),
        ({"orders": 4.0}, "data[0].orders: expected 4, got 4.0"),
        ({"rate": 33.34}, "data[0].rate: expected 33.33, got 33.34"),
        ({"open": 1}, "data[0].open: expected True, got 1"),
        ({"code": ""}, "data[0].code: expected None, got ''"),
        ({"more": 1}, "data[0]: more is not asked for"),
    ],
)
def test_differences_name_their_place(change: dict[str, Any], difference: str) -> None:
    assert compare("/v1/attribution", [ROW], [{**ROW, **change}]) == [difference]


def test_rows_that_lack_are_shown() -> None:
    assert compare("/v1/x", [{"a": 1}, {"a": 2}], [{"a": 2}]) == [
        "data: expected 2 rows, got 1",
        "data: only expected: {'a': 1}",
    ]


def test_percentiles_may_differ_by_a_hundredth_and_the_average_may_not() -> None:
    path = "/v1/forms/x/time-to-complete"
    near = {**TIMES, "p50Ms": 1010, "buckets": BUCKETS}
    assert compare(path, [TIMES], [near]) == []
    assert compare(path, [TIMES], [{**near, "p50Ms": 1011}]) == [
        "data[0].p50Ms: expected 1000.0, got 1011"
    ]
    assert compare(path, [TIMES], [{**near, "averageMs": 1.51}]) == [
        "data[0].averageMs: expected 1.5, got 1.51"
    ]


@pytest.mark.parametrize(
    "buckets",
    [None, [], BUCKETS[:1], BUCKETS[::-1], [*BUCKETS, *[{**BUCKETS[1], "count": 0}] * 29]],
)
def test_buckets_are_few_in_order_and_whole(buckets: Any) -> None:
    path = "/v1/forms/x/time-to-complete"
    assert compare(path, [TIMES], [{**TIMES, "buckets": buckets}])


def test_instants_may_be_written_in_their_own_way() -> None:
    path, at = "/v1/ads/spend", "2024-03-01T00:00:00.000Z"
    assert compare(path, {"lastSyncedAt": at}, {"lastSyncedAt": "2024-03-01T00:00:00Z"}) == []
    assert compare(path, {"lastSyncedAt": at}, {"lastSyncedAt": "2024-03-01T00:00:01Z"})

"""Endpoints 7 and 8, and the buckets that 8 is made of."""

from itertools import pairwise

import numpy as np
import pytest

from tests.support.fixtures import Ask
from tests.support.shop_builder import ShopBuilder
from warehouse.daily.log_histogram import bounds, bucket_of, representative

FORM = "11111111-1111-4111-8111-111111111111"


def test_dropoff(shop: ShopBuilder, ask: Ask) -> None:
    shop.form(FORM)
    shop.step(FORM, "b", 2, "Second")
    shop.step(FORM, "a", 2)
    shop.step(FORM, "first", 0, "First")
    shop.step(FORM, "gone", 1)
    shop.daily("step", "2026-03-10", form=FORM, step="first", views=6, completions=4, dropoffs=2)
    shop.daily("step", "2026-03-11", form=FORM, step="first", views=3, completions=2, dropoffs=0)
    shop.daily("step", "2026-03-11", form=FORM, step="b", views=4, completions=3, dropoffs=1)
    shop.daily("step", "2026-03-11", form=FORM, step="a", views=1, completions=1)
    shop.daily("step", "2026-03-11", form=FORM, step="gone")
    rows = ask(f"/v1/forms/{FORM}/steps/dropoff")
    assert [row["stepId"] for row in rows] == ["first", "a", "b"]
    assert rows[0] == {
        "stepId": "first",
        "stepIndex": 0,
        "stepName": "First",
        "views": 9,
        "completions": 6,
        "dropoffs": 2,
        "completionRate": 66.67,
        "dropoffRate": 22.22,
        "shareOfDropoffs": 66.67,
    }
    assert rows[1]["stepName"] is None
    assert rows[2]["shareOfDropoffs"] == 33.33


def seconds(value: float) -> int:
    return int(bucket_of(np.array([round(value * 1e6)]))[0])


def test_time_to_complete(shop: ShopBuilder, ask: Ask) -> None:
    shop.form(FORM)
    shop.daily(
        "time_to_complete",
        "2026-03-10",
        form=FORM,
        device="mobile",
        cells=[
            (seconds(10), 1, 10_000_000),
            (seconds(20), 2, 40_000_000),
        ],
    )
    shop.daily(
        "time_to_complete",
        "2026-03-11",
        form=FORM,
        device="desktop",
        cells=[
            (seconds(20), 1, 20_000_000),
            (seconds(40), 0, 0),
        ],
    )
    every, mobile, desktop = ask(f"/v1/forms/{FORM}/time-to-complete")
    assert [row["deviceType"] for row in (every, mobile, desktop)] == ["all", "mobile", "desktop"]
    assert (every["completions"], every["averageMs"]) == (4, 17_500)
    for name, exact in (
        ("minMs", 10_000),
        ("p25Ms", 10_000),
        ("p50Ms", 20_000),
        ("p99Ms", 20_000),
        ("maxMs", 20_000),
    ):
        assert every[name] == pytest.approx(exact, rel=0.006), name
    assert sum(bucket["count"] for bucket in every["buckets"]) == 4
    assert len(every["buckets"]) <= 30
    assert every["buckets"][0]["fromMs"] <= 10_000 <= every["buckets"][0]["toMs"]
    assert all(a["toMs"] == b["fromMs"] for a, b in pairwise(every["buckets"]))
    assert desktop["minMs"] <= desktop["averageMs"] == 20_000 <= desktop["maxMs"]
    assert ask(f"/v1/forms/{FORM}/time-to-complete", range="2026-01-01") == []


def test_no_time_at_all(shop: ShopBuilder, ask: Ask) -> None:
    shop.form(FORM)
    shop.daily("time_to_complete", "2026-03-10", form=FORM, device="other", cells=[(0, 2, 0)])
    every, _ = ask(f"/v1/forms/{FORM}/time-to-complete")
    buckets = every.pop("buckets")
    assert buckets == [{"fromMs": 0, "toMs": 0.001, "count": 2}]
    assert every == {
        "deviceType": "all",
        "completions": 2,
        "averageMs": 0,
        "minMs": 0,
        "p25Ms": 0,
        "p50Ms": 0,
        "p75Ms": 0,
        "p90Ms": 0,
        "p95Ms": 0,
        "p99Ms": 0,
        "maxMs": 0,
    }


def test_times_are_rounded_half_up_to_microseconds(shop: ShopBuilder, ask: Ask) -> None:
    shop.form(FORM)
    cells = [(int(bucket_of(np.array([micros]))[0]), 1, micros) for micros in (1, 2, 300, 4_711)]
    path = f"/v1/forms/{FORM}/time-to-complete"
    for on, of_day, average in (("10", cells[:2], 0.002), ("11", cells[2:], 2.506)):
        shop.daily("time_to_complete", f"2026-03-{on}", form=FORM, device="other", cells=of_day)
        every, _ = ask(path, range=f"2026-03-{on}")
        assert every["averageMs"] == average
        times = [value for name, value in every.items() if name.endswith("Ms")]
        assert times == [round(value, 3) for value in times]


def test_buckets_of_durations() -> None:
    powers = np.array([2**n for n in range(61)])
    assert bucket_of(powers).tolist() == [1 + 64 * n for n in range(61)]
    assert bucket_of(powers[10:] - 1).tolist() == [64 * n for n in range(10, 61)]
    assert bucket_of(np.array([0, 1, 2, 3])).tolist() == [0, 1, 65, 102]
    some = np.unique(np.geomspace(100, 1e12, 5_000).astype(np.int64))
    for micros, bucket in zip(some.tolist(), bucket_of(some).tolist(), strict=True):
        low, high = bounds(bucket)
        assert low <= micros < high
        assert representative(bucket) == pytest.approx(micros, rel=0.0055)

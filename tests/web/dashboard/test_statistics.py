"""Intervals of rates, beside values that their authors published."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from web.dashboard.statistics import of_difference, of_rate


def rounded(interval: object) -> tuple[float, float]:
    return round(interval.low, 4), round(interval.high, 4)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    # Newcombe, Statistics in Medicine 17 (1998), 857-872, table I, method 3.
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson(hits: int, trials: int, low: float, high: float) -> None:
    assert rounded(of_rate(hits, trials)) == (low, high)


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    # Newcombe, Statistics in Medicine 17 (1998), 873-890, table II, method 10.
    [
        ((56, 70, 48, 80), 0.0524, 0.3339),
        ((9, 10, 3, 10), 0.1705, 0.8090),
        ((6, 7, 2, 7), 0.0582, 0.8062),
        ((5, 56, 0, 29), -0.0381, 0.1926),
        ((0, 10, 0, 20), -0.1611, 0.2775),
        ((10, 10, 0, 20), 0.6791, 1.0),
    ],
)
def test_newcombe(counts: tuple[int, int, int, int], low: float, high: float) -> None:
    assert rounded(of_difference(*counts)) == (low, high)


def test_nothing_is_known_without_trials() -> None:
    assert rounded(of_rate(0, 0)) == (0.0, 1.0)
    assert of_difference(0, 0, 5, 9).has_zero


@given(st.integers(1, 10_000), st.data())
def test_a_rate_lies_in_its_interval(trials: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, trials))
    interval = of_rate(hits, trials)
    assert 0 <= interval.low <= hits / trials + 1e-12
    assert hits / trials - 1e-12 <= interval.high <= 1
    assert of_difference(hits, trials, hits, trials).has_zero

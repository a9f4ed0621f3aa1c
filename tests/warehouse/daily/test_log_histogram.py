"""Durations in log-spaced buckets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warehouse.daily.log_histogram import bounds, bucket_of, representative

# Up to 365,000 years.
durations = st.one_of(st.integers(0, 2**62 - 1), st.integers(0, 10_000))


@settings(deadline=None)
@given(durations)
def test_a_duration_lies_in_its_bucket_and_near_what_stands_for_it(micros: int) -> None:
    (bucket,) = bucket_of(np.array([micros])).tolist()
    if micros < 2**53:  # the bounds are floats
        low, high = bounds(bucket)
        assert low <= micros < high
    assert representative(bucket) == pytest.approx(micros, rel=0.01)


@settings(deadline=None)
@given(durations, durations)
def test_a_longer_duration_has_no_lower_bucket(one: int, other: int) -> None:
    shorter, longer = bucket_of(np.array(sorted([one, other]))).tolist()
    assert shorter <= longer


def test_powers_of_two_begin_an_octave_of_64_buckets() -> None:
    exponents = np.arange(62)
    assert bucket_of(2**exponents).tolist() == (1 + 64 * exponents).tolist()
    assert bucket_of(2 ** exponents[7:] - 1).tolist() == (64 * exponents[7:]).tolist()

"""Log-spaced buckets of durations: counts that add up, and percentiles within 1 %.

Bucket 0 is 0 µs; bucket b > 0 holds the durations from 2^((b-1)/64) µs up to 2^(b/64) µs, the upper
bound excluded. Half a bucket is 0.55 % wide.
"""

from functools import cache
from math import isqrt
from typing import Final

import numpy as np
import numpy.typing as npt

BUCKETS_PER_OCTAVE: Final = 64
_OCTAVES: Final = 62


def bucket_of(micros: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The bucket of each duration (not negative): 0 for 0 µs, else 1 + floor(log2(µs) * 64).

    The bounds are integers: a floating-point logarithm could differ between machines.
    """
    return np.searchsorted(_lower_bounds(), micros, side="right").astype(np.int64)


def bounds(bucket: int) -> tuple[float, float]:
    """The durations of a bucket in µs: from, and up to (excluded)."""
    if bucket == 0:
        return 0.0, 1.0
    return 2.0 ** ((bucket - 1) / BUCKETS_PER_OCTAVE), 2.0 ** (bucket / BUCKETS_PER_OCTAVE)


def representative(bucket: int) -> float:
    """The duration in µs that stands for all of a bucket: its geometric middle."""
    return 2.0 ** ((bucket - 0.5) / BUCKETS_PER_OCTAVE) if bucket else 0.0


@cache
def _lower_bounds() -> npt.NDArray[np.int64]:
    """The lowest integer of µs of every bucket from 1 on: 2^(k/64), rounded up."""
    # 2^(k/64) of one octave with so many binary places that a shift gives any other octave's.
    scaled = []
    for step in range(BUCKETS_PER_OCTAVE):
        root = 1 << (step + _OCTAVES * BUCKETS_PER_OCTAVE)
        for _ in range(BUCKETS_PER_OCTAVE.bit_length() - 1):  # the 64th root: six square roots
            root = isqrt(root)
        scaled.append(root)
    bounds = [
        (root >> (_OCTAVES - octave)) + (step != 0)
        for octave in range(_OCTAVES)
        for step, root in enumerate(scaled)
    ]
    return np.array(bounds, dtype=np.int64)

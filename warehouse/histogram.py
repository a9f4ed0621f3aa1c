"""Log-spaced buckets of durations: counts that add up, and percentiles within 1 %.

Bucket 0 is 0 µs; bucket b > 0 holds the durations from 2^((b-1)/64) µs up to 2^(b/64) µs, the upper
bound excluded. Half a bucket is 0.55 % wide.
"""

from functools import cache
from math import isqrt
from typing import Final

import numpy as np
import numpy.typing as npt

PER_OCTAVE: Final = 64
_OCTAVES: Final = 62


def bucket_of(micros: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The bucket of each duration (not negative): 0 for 0 µs, else 1 + floor(log2(µs) * 64).

    Placed by whole-number bounds, so that it is the same on every machine, whatever its logarithm
    does with the last digit.
    """
    return np.searchsorted(_lowest(), micros, side="right").astype(np.int64)


def bounds(bucket: int) -> tuple[float, float]:
    """The durations of a bucket in µs: from, and up to (excluded)."""
    if bucket == 0:
        return 0.0, 1.0
    return 2.0 ** ((bucket - 1) / PER_OCTAVE), 2.0 ** (bucket / PER_OCTAVE)


def representative(bucket: int) -> float:
    """The duration in µs that stands for all of a bucket: its geometric middle."""
    return 2.0 ** ((bucket - 0.5) / PER_OCTAVE) if bucket else 0.0


@cache
def _lowest() -> npt.NDArray[np.int64]:
    """For every bucket from 1 on, the least whole number of µs in it: 2^(k/64), rounded up."""
    # Those of one octave with so many binary places that cutting some off gives any other octave's.
    scaled = []
    for step in range(PER_OCTAVE):
        floor = 1 << (step + _OCTAVES * PER_OCTAVE)
        for _ in range(PER_OCTAVE.bit_length() - 1):  # the 64th root: six square roots
            floor = isqrt(floor)
        scaled.append(floor)
    bounds = [
        (floor >> (_OCTAVES - octave)) + (step != 0)
        for octave in range(_OCTAVES)
        for step, floor in enumerate(scaled)
    ]
    return np.array(bounds, dtype=np.int64)

"""Log-spaced buckets of durations: counts that add up, and percentiles within 1 %."""

from typing import Final

import numpy as np
import numpy.typing as npt

PER_OCTAVE: Final = 64


def bucket_of(micros: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The bucket of each duration: 0 for 0 µs, else 1 + floor(log2(µs) * 64).

    The octave is taken from the binary exponent, so that powers of two fall exactly on a boundary.
    """
    mantissa, exponent = np.frexp(np.maximum(micros, 1).astype(np.float64))
    within = np.floor(np.log2(mantissa * 2) * PER_OCTAVE).astype(np.int64)
    buckets = 1 + (exponent.astype(np.int64) - 1) * PER_OCTAVE + within
    return np.where(micros == 0, 0, buckets)

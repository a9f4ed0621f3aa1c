"""The clock of all jobs; nothing else under jobs/ asks what time it is."""

import time

from warehouse.domain.time import MICROS_PER_SECOND


def now_micros() -> int:
    """The present instant, in microseconds since 1970 (UTC)."""
    return int(time.time() * MICROS_PER_SECOND)

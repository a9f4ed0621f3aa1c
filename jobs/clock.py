"""What time it is."""

import time

from warehouse.days import MICROS_PER_SECOND


def now_micros() -> int:
    """The present instant."""
    return int(time.time() * MICROS_PER_SECOND)

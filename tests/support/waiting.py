"""How long tests wait for what has to happen."""

import time
from collections.abc import Callable
from typing import Final

PATIENCE_SECONDS: Final = 480
"""However slow or busy the machine is, nothing takes that long. Waiting ends earlier in every test that
passes, so there is no reason to choose a smaller number."""

_LOOK_SECONDS: Final = 0.02


def wait_until(reached: Callable[[], object], shown: Callable[[], object] = str) -> None:
    """Wait until a condition holds. Where it never does, fail with what `shown` gives."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not reached():
        assert time.monotonic() < deadline, shown()
        time.sleep(_LOOK_SECONDS)

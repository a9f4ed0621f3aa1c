"""How long tests wait for what has to happen."""

import os
import time
from collections.abc import Callable
from typing import Final

PATIENCE_SECONDS: Final = int(os.environ.get("TEST_PATIENCE", "120"))
"""However slow or busy the machine is, nothing takes that long. `make test-all` and `make test-deep` set it
to more, for tests that start whole clusters; in `make test` a longer one would only hide a hang."""

_LOOK_SECONDS: Final = 0.02


def wait_until(reached: Callable[[], object], shown: Callable[[], object] = str) -> None:
    """Wait until a condition holds. Where it never does, fail with what `shown` gives."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not reached():
        assert time.monotonic() < deadline, shown()
        time.sleep(_LOOK_SECONDS)

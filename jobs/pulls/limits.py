"""The limits of one pull: its server, or its tap, may be broken or hostile, and other pulls wait."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Final

from jobs.run import signals
from jobs.run.errors import Told
from warehouse.settings import PULL_MAX_MB

MEGABYTE: Final = 1_000_000
MAX_JSON_MB: Final = 16
"""Megabytes that are read of an answer in JSON, which is read at once."""

LONGEST_SECONDS = 6 * 3600.0

_ends_at: float | None = None


class PullFailed(Told):
    """A source cannot be read. The message holds no secret."""


@contextmanager
def time_limit(end: Callable[[], None]) -> Iterator[None]:
    """Limit the time of a block, which is one pull: `pause` and `raise_if_over` know when it has taken too
    long. `end` is called then, in another thread: it ends what the pull waits for. Raises PullFailed."""
    global _ends_at
    _ends_at = time.monotonic() + LONGEST_SECONDS
    timer = Timer(LONGEST_SECONDS, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except Exception:
        # It may have failed because its end came.
        raise_if_over()
        raise
    finally:
        timer.cancel()
        _ends_at = None


def is_over() -> bool:
    """Whether the pull has taken too long."""
    return _ends_at is not None and time.monotonic() >= _ends_at


def raise_if_over() -> None:
    if is_over():
        raise PullFailed(
            "the pull has not ended within 6 hours, and was ended; nothing of it is taken. Look at why the "
            "source is slow; the next pull begins where the last whole one ended"
        )


def pause(seconds: float) -> None:
    """Wait so long, where nothing is half done. Raises PullFailed, and Stopped after a signal."""
    left = seconds if _ends_at is None else max(_ends_at - time.monotonic(), 0)
    signals.pause(min(seconds, left))
    raise_if_over()


def check_size(what: str, size: int) -> None:
    """Raise PullFailed where a pull brings so many bytes that the disk is in danger."""
    if size > PULL_MAX_MB.get() * MEGABYTE:
        raise PullFailed(
            f"{what}: this pull brings more than {PULL_MAX_MB.get()} MB (PULL_MAX_MB), so nothing of it is "
            "taken. If you trust the source, raise the setting"
        )

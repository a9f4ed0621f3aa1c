"""The entry point of `python -m jobs`."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from jobs.cli import main


@contextmanager
def _importing() -> Iterator[None]:
    """What is imported in the block stays. To look through it for garbage again and again while it
    grows, and once more when the process ends, takes a third of the time of a small command."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


try:
    main(prog_name="python -m jobs", obj=_importing)
finally:
    gc.freeze()

"""How many threads of one process answer requests."""

from typing import Final

THREADS: Final = 16
"""One shop holds half of them at most (`web/http/concurrency_limits.py`). The others are for other shops,
for pages, and for bodies that come slowly (`web/http/request_bodies.py`)."""

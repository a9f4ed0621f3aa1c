"""JSON values as Python has them: dicts, lists, texts, numbers."""

from collections.abc import Iterator
from typing import Any


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a JSON value, names of members too; without recursion."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            yield from value
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)

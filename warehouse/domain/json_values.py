"""JSON values as Python has them: dicts, lists, texts, numbers."""

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any


def read_float(written: str) -> Decimal:
    """A number with a point or an exponent, with every digit: binary floats would not keep them. One whose
    exponent no Decimal holds (`1e99999999999999999999`) is infinite, which no field takes."""
    try:
        return Decimal(written)
    except InvalidOperation:
        return Decimal("Infinity")


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

"""ISO 8601 times as instants, and dates as days."""

import re
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warehouse.days import to_micros

_ISO: Final = re.compile(
    r"\d{4}-?\d\d-?\d\d"
    r"([T ]\d\d(:?\d\d(:?\d\d([.,]\d+)?)?)?( ?Z|[+-]\d\d(:?\d\d)?)?)?",
    re.ASCII | re.IGNORECASE,
)

# "No such time": smaller than every instant that is taken.
UNREADABLE: Final = -(2**62)


def instant(value: Any) -> int:
    """The instant of a text (or datetime), UNREADABLE where it is none. Without an offset it is UTC;
    digits after the microsecond are cut."""
    if isinstance(value, str):
        if not _ISO.fullmatch(value):
            return UNREADABLE
        try:
            value = datetime.fromisoformat(value.upper().replace(" Z", "Z"))
        except ValueError:
            return UNREADABLE
    if not isinstance(value, datetime):
        return UNREADABLE
    return to_micros(value if value.tzinfo else value.replace(tzinfo=UTC))


def instants(values: pa.Array) -> np.ndarray:
    """The instants of a column of texts without nulls; UNREADABLE for each that is none."""
    # Most files write all their times in one way, which Arrow reads at once or refuses.
    for kind in (pa.timestamp("us", "UTC"), pa.timestamp("us")):
        try:
            return pc.cast(values, kind).cast(pa.int64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            continue
    known: dict[str, int] = {}
    found = []
    for text in values.to_pylist():
        at = known.get(text)
        if at is None:
            at = known[text] = instant(text)
        found.append(at)
    return np.array(found, dtype=np.int64)

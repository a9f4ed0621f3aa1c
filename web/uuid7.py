"""UUIDv7 (RFC 9562, 5.7): ids that sort by the time at which they were made."""

import secrets
from uuid import UUID

from warehouse.days import MICROS_PER_MS


def uuid7(instant: int) -> UUID:
    """An id made at `instant` (microseconds): 48 bits of milliseconds, 74 random bits."""
    number = (instant // MICROS_PER_MS) << 80 | secrets.randbits(80)
    number = number & ~(0xF << 76) | 0x7 << 76
    return UUID(int=number & ~(0x3 << 62) | 0x2 << 62)

"""The rules of time zones: those of the package `tzdata`, never the system's.

Two hosts with the same program make the same days then, and an upgrade of the system changes none. No other
module asks `zoneinfo` for a zone by its name: that would take the system's files first.
"""

from functools import cache
from importlib import resources
from io import BytesIO
from typing import Final
from zoneinfo import ZoneInfo

import tzdata

VERSION: Final = tzdata.IANA_VERSION
"""The version of the rules, such as `2026f`: a later one is the greater text."""

_FILES: Final = resources.files("tzdata")

# "Factory" stands for a machine that nobody has set up.
ZONES: Final = frozenset((_FILES / "zones").read_text("utf-8").split()) - {"Factory"}
"""The names of all zones."""


@cache
def content(name: str) -> bytes:
    """The rules of a zone, in the format TZif."""
    return _FILES.joinpath("zoneinfo", *name.split("/")).read_bytes()


@cache
def zone(name: str) -> ZoneInfo:
    """A zone by its name."""
    return read(name, content(name))


def read(name: str, rules: bytes) -> ZoneInfo:
    """A zone as rules in the format TZif have it."""
    return ZoneInfo.from_file(BytesIO(rules), key=name)

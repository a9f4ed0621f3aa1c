"""Reasons of rejects without the values that they quote: one mistake of a producer is one reason."""

import re
from typing import Final

# The value in a reason, as `jobs/importing/values/errors.py` quotes it.
_QUOTED: Final = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?<=: )[-+.\dE]+(?= )""")


def without_values(reason: str) -> str:
    """`currency: 'USD' is not the shop's currency (EUR)` as `currency: … is not the shop's ...`."""
    return _QUOTED.sub("…", reason)

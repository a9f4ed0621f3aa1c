"""Reasons of rejects, also without the values that they quote: one mistake of a producer is one reason.

Beside rows that were refused, rejects are rows that were taken without a field that could not be used. Their
reasons begin with KEPT_WITHOUT.
"""

import re
from typing import Final

# The value in a reason, as `jobs/importing/values/errors.py` quotes it.
_QUOTED: Final = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?<=: )[-+.\dE]+(?= )""")


KEPT_WITHOUT: Final = "kept without "
IS_KEPT: Final = f"reason LIKE '{KEPT_WITHOUT}%'"
"""The SQL condition that the row of a reject was taken."""


def without_values(reason: str) -> str:
    """`currency: 'USD' is not the shop's currency (EUR)` as `currency: … is not the shop's ...`."""
    return _QUOTED.sub("…", reason)

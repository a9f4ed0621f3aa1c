"""Why rows are rejects: in words for people, and in words of a closed list for what decides by it.

Beside rows that were refused, rejects are rows that were taken without a field that could not be used.
"""

import re
from typing import Final, NamedTuple

# The codes of rejects; "" is every other reason.
KEPT: Final = "kept"
"""The row was taken without a field."""
MISSING: Final = "missing"
NOT_KEPT: Final = "not_kept"
"""It is no row: it counts the rejects of its file that are not kept."""

IS_KEPT: Final = f"code = '{KEPT}'"
"""The SQL condition that the row of a reject was taken."""

# How the words of KEPT begin.
KEPT_WITHOUT: Final = "kept without "

# The value in a reason, as `jobs/importing/values/errors.py` quotes it.
_QUOTED: Final = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?<=: )[-+.\dE]+(?= )""")


class Reason(NamedTuple):
    """Why a row is a reject. `words` are for people alone. `field`: the one field whose value they may quote,
    "" where it is not one."""

    words: str
    code: str = ""
    field: str = ""


def without_values(words: str) -> str:
    """`currency: 'USD' is not the shop's currency (EUR)` as `currency: … is not the shop's ...`."""
    return _QUOTED.sub("…", words)
